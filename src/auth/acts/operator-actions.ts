import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { toGatewayError } from '../../common/errors/to-gateway-error.js';
import { isJsonObject, type JsonObject, postgresJson } from '../../common/json-object.js';
import { cursorOf, type Page, type PageRequest } from '../../common/paging/page.js';
import { redactText } from '../../common/secrets/redact-text.js';
import { Clock } from '../../common/time/clock.js';
import type { CreationTimes } from '../../common/time/time-range.js';
import { HIGHEST_POSITION, pageOfScan } from '../../platform/database/keyset-pagination.js';
import type { OperatorIdentity } from '../operators/operator.js';
import type { Role } from '../operators/role.js';
import { actOf, namesOf } from './operator-acts.js';
import { changeOf, NOTHING_CHANGED, type RecordedChange } from './recorded-values.js';

const MAX_TARGET_CHARACTERS = 100;
/** Ids contain none of these characters, and the database refuses a zero byte. */
const INVISIBLE = /[^\x21-\x7e]/g;
const AMOUNT = /^-?[0-9]{1,18}$/;
const INSERT = `
  INSERT INTO operator_action (actor, action, target, address, at, person, role, reason, issuer, subject)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id`;
const CONCLUDE = `
  INSERT INTO operator_outcome (action_id, outcome, made, amount, values_before, values_after)
    VALUES ($1, $2, $3, $4, $5, $6)`;
const ACTIONS = `(
  SELECT id, actor, action, target, address, at, person, role, reason, issuer, subject, outcome, made, amount AS "amountMicroUsd", values_before, values_after
    FROM operator_action LEFT JOIN operator_outcome ON action_id = id) recorded`;
const COMPARISONS: readonly (readonly [keyof ActionFilter, string])[] = [
  ['actor', 'actor ='],
  ['actions', 'ARRAY[action] <@'],
  ['targets', 'ARRAY[target, made] @>'],
  ['createdAfter', 'at >='],
  ['createdBefore', 'at <'],
];

/** Who requests which change. `target` is the id of the resource, `address` the source of the request. */
export interface NewOperatorAction {
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly address: string | null;
  /** Of an operator in the console: who it is and why. */
  readonly person?: string | null;
  readonly role?: Role | null;
  readonly reason?: string | null;
  readonly identity?: OperatorIdentity | undefined;
}

/** The outcome of an action. */
interface Outcome {
  /** `done` or the code of the error. */
  readonly outcome: string;
  /** The id of what it made, if it made anything. */
  readonly made: string | null;
  /** The money that it moved, in decimal digits. */
  readonly amountMicroUsd: string | null;
  readonly change: RecordedChange;
}

/** A recorded action; ids grow with time. Its outcome is null while it is under way, and if the process ended then. */
export interface OperatorAction extends Required<NewOperatorAction>, Omit<Outcome, 'outcome'> {
  readonly id: string;
  readonly at: Date;
  readonly outcome: string | null;
}

type ActionRow = Omit<OperatorAction, 'change' | 'identity'> & {
  readonly issuer: string | null;
  readonly subject: string | null;
  readonly values_before: JsonObject | null;
  readonly values_after: JsonObject | null;
};

/** Which actions to list; all filters must hold. */
export interface ActionQuery extends PageRequest, Partial<CreationTimes> {
  readonly actor?: string | undefined;
  /** Id of what was changed or made. */
  readonly target?: string | undefined;
  /** By the name of its command. */
  readonly action?: string | undefined;
}

interface ActionFilter extends Partial<CreationTimes> {
  readonly actor?: string | undefined;
  readonly actions?: readonly string[] | undefined;
  readonly targets?: readonly string[] | undefined;
}

/**
 * The record of the changes that operators request, through the API and on the command line, and of what came of them. Rows
 * are only added.
 */
@Injectable()
export class OperatorActions {
  private readonly logger = new Logger(OperatorActions.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
  ) {}

  /**
   * Records the action, runs it, and records its outcome: from its result the `id`, if it differs from the target's, and
   * `amount_microusd`; and the target before and after, which `read` returns, unless the action only
   * repeated an earlier one (`isReplay`). Throws what the action throws. Throws before the action if it cannot be recorded; an outcome that cannot be recorded is logged.
   */
  async perform<T>(
    action: NewOperatorAction,
    perform: () => Promise<T>,
    read: (id: string) => Promise<unknown> = () => Promise.resolve(undefined),
    isReplay: () => boolean = () => false,
  ): Promise<T> {
    const id = await this.record(action);
    const { target } = action;
    // A target that cannot be read is left out of the record; the action reports the error.
    const readTarget = async () =>
      target === null ? undefined : read(target).catch(() => undefined);
    const before = await readTarget();
    let answer: T;
    try {
      answer = await perform();
    } catch (error) {
      const { code } = toGatewayError(error);
      const nothing = { made: null, amountMicroUsd: null, change: NOTHING_CHANGED };
      await this.conclude(id, { outcome: code, ...nothing });
      throw error;
    }
    const change = isReplay()
      ? NOTHING_CHANGED
      : changeOf(target, before, answer, before && (await readTarget()));
    await this.conclude(id, { ...outcomeOf(answer, target), change });
    return answer;
  }

  /** Actions, newest first; a page reads at most 10,000 of them. Throws 400 invalid_request for an invalid cursor. */
  async list(query: ActionQuery): Promise<Page<OperatorAction>> {
    const { actor, action, target, createdAfter, createdBefore } = query;
    const filter: ActionFilter = {
      actor,
      actions: action === undefined ? undefined : namesOf(action),
      targets: target === undefined ? undefined : [target],
      createdAfter,
      createdBefore,
    };
    const scan = {
      table: ACTIONS,
      filter,
      comparisons: COMPARISONS,
      lead: [],
      by: 'id',
      newest: cursorOf(query, 'position') ?? HIGHEST_POSITION,
      oldest: '0',
    } as const;
    return pageOfScan(this.dataSource, scan, query.limit, actionOf);
  }

  private async record(recorded: NewOperatorAction): Promise<string> {
    const { actor, action, target, address, person, role, reason, identity } = recorded;
    const shown = target === null ? null : shownTarget(target);
    const at = new Date(this.clock.nowMs());
    const told = [person, role, reason, identity?.issuer, identity?.subject];
    const parameters = [actor, action, shown, address, at, ...told];
    const [row] = await this.dataSource.query<[{ readonly id: string }]>(INSERT, parameters);
    return row.id;
  }

  private async conclude(id: string, outcome: Outcome): Promise<void> {
    const { made, amountMicroUsd, change } = outcome;
    const [before, after] = [change.before, change.after].map(
      (values) => values && postgresJson(values),
    );
    try {
      const parameters = [id, outcome.outcome, made, amountMicroUsd, before, after];
      await this.dataSource.query(CONCLUDE, parameters);
    } catch (error) {
      this.logger.error(`The outcome of operator action ${id} was not recorded: ${String(error)}`);
    }
  }
}

function actionOf(row: ActionRow): OperatorAction {
  const { id, actor, target, address, at, person, role, reason, issuer, subject } = row;
  const identity = issuer !== null && subject !== null ? { issuer, subject } : undefined;
  const { outcome, made, amountMicroUsd } = row;
  const change = { before: row.values_before, after: row.values_after };
  const told = { person, role, reason, identity, outcome, made, amountMicroUsd, change };
  return { id, actor, action: actOf(row.action), target, address, at, ...told };
}

/** An operator may send a key instead of its id by mistake, and no key may be in the record. */
function shownTarget(target: string): string {
  return redactText(target).slice(0, MAX_TARGET_CHARACTERS).replace(INVISIBLE, '?');
}

function outcomeOf(answer: unknown, target: string | null): Omit<Outcome, 'change'> {
  const { id, amount_microusd: amount } = isJsonObject(answer) ? answer : {};
  return {
    outcome: 'done',
    made: typeof id === 'string' && id !== target ? id : null,
    amountMicroUsd: typeof amount === 'string' && AMOUNT.test(amount) ? amount : null,
  };
}
