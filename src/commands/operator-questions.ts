import type { ResolveTaskBody } from '../admin/dto/resolve-task.body.js';
import { toPublicId } from '../common/ids/public-id.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { moneyText } from '../common/money/usd-text.js';
import type { Operators, TaskOperators } from './operator-command.js';
import type { Options, Question } from './operator-request.js';
import { creditBodyOf, refundBodyOf } from './parse-options.js';

/**
 * What a command that takes money, gives it away or cannot be undone is about to do: the sentences that an operator reads before
 * the command is done. Each throws what the command itself would throw about an unknown id.
 */

/** A positive amount below a cent, without its unit, may be meant as USD. */
const LEAST_SURE_MICRO_USD = 10_000n;

/** A correction, or a credit whose amount may be meant as USD; undefined for any other credit, which takes nothing from anybody. */
export async function creditQuestion(
  { operator }: Operators,
  [account = '', typed]: readonly string[],
  options: Options,
): Promise<string | undefined> {
  const amount = BigInt(creditBodyOf(typed, options).amount_microusd);
  const isSure = options.usd !== undefined || amount >= LEAST_SURE_MICRO_USD;
  if (isSure && amount >= 0n) return undefined;
  const { name, availableMicroUsd } = await operator.account(account);
  if (amount < 0n) {
    return `This takes ${moneyText(-amount)} from account ${account} (${name}), which has ${moneyText(availableMicroUsd)} available.`;
  }
  return `This gives ${moneyText(amount)} to account ${account} (${name}). If ${amount} is meant in USD, type --usd ${amount} instead.`;
}

/** The revocation of a key. */
export async function revocationQuestion(
  { keys }: Operators,
  [id = '']: readonly string[],
): Promise<Question> {
  const { accountId, name, prefix } = await keys.get(id);
  const called = name === null ? prefix : `${prefix}, ${name}`;
  const asks = `This revokes key ${id} (${called}) of account ${toPublicId('acct', accountId)} for ever. Whoever uses it is refused within 2 s.`;
  return { asks, scriptsGoAhead: true };
}

/** The loss of what no key of SECRET_KEY opens; undefined where nothing is lost. */
export async function forgettingQuestion({ sealed }: Operators): Promise<string | undefined> {
  const count = await sealed.unreadable();
  if (count === 0) return undefined;
  const texts = count === 1 ? '1 sealed text' : `${count} sealed texts`;
  return `This drops ${texts} that no key of SECRET_KEY opens, for ever: secrets of webhooks, what unsent tasks were asked for, and stored conversations. If you still have the key, put it behind the first one instead (SECRET_KEY=new,old).`;
}

/** The erasure of what is stored of an account's conversations. */
export async function erasureQuestion(
  { operator }: Operators,
  [id = '']: readonly string[],
): Promise<string> {
  const { name } = await operator.account(id);
  return `This erases all stored responses of account ${name} with their conversations, for ever.`;
}

/** The refund of a call. */
export async function executionRefundQuestion(
  { operator }: Operators,
  [id = '']: readonly string[],
  options: Options,
): Promise<string> {
  return refundText(id, await operator.execution(id), options);
}

/** The refund of a task. */
export async function taskRefundQuestion(
  { tasks }: TaskOperators,
  [id = '']: readonly string[],
  options: Options,
): Promise<string> {
  return refundText(id, await tasks.find(id), options);
}

/** What may be given back of, and for what. */
interface Charged {
  readonly accountId: string;
  readonly model: string;
  readonly chargedMicroUsd: MicroUsd | null;
}

function refundText(id: string, { accountId, model, chargedMicroUsd }: Charged, options: Options) {
  const { amount_microusd: amount } = refundBodyOf(options);
  const given = amount === undefined ? 'what is left' : moneyText(BigInt(amount));
  const charge = moneyText(chargedMicroUsd ?? 0n);
  return `This gives ${given} of the charge of ${charge} for ${id} (${model}) back to account ${toPublicId('acct', accountId)}.`;
}

/** An operator's decision about a task. */
export async function resolutionQuestion(
  { tasks }: TaskOperators,
  id: string,
  { outcome, charged_microusd: named, result }: ResolveTaskBody,
): Promise<string> {
  const { accountId, model, status, reservedMicroUsd, webhook } = await tasks.find(id);
  const account = `account ${toPublicId('acct', accountId)}`;
  const isHeld = status === 'reconciliation_required';
  const task = `task ${id} (${model}, ${status})`;
  const told = webhook ? ' Its webhook is told.' : ' It has no webhook.';
  if (outcome === 'failed') {
    return `This ends ${task} as failed and gives back the ${moneyText(reservedMicroUsd)} that it holds to ${account}.${told}`;
  }
  const charge = named === undefined ? (isHeld ? reservedMicroUsd : 0n) : BigInt(named);
  const charged = `charges ${account} ${moneyText(charge)}`;
  if (outcome === 'collect') {
    return `This fetches the result of ${task} from its provider, delivers it and ${charged}. If it cannot be fetched, nothing changes.${told}`;
  }
  const delivered =
    result === undefined ? 'leaves its result empty' : 'delivers the result that you give';
  return `This ends ${task} as succeeded, ${charged} and ${delivered}.${told}`;
}
