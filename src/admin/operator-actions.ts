import { Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { toGatewayError } from '../common/errors/to-gateway-error.js';
import { isJsonObject } from '../common/json-object.js';
import { cursorOf, type Page, pageOf, type PageRequest } from '../common/paging/page.js';
import { Clock } from '../common/time/clock.js';
import { redactText } from '../common/secrets/redact-text.js';

const MAX_TARGET_CHARACTERS = 100;
/** Ids contain none of these characters, and the database refuses a zero byte. */
const INVISIBLE = /[^\x21-\x7e]/g;
const AMOUNT = /^-?[0-9]{1,18}$/;
const INSERT = `
  INSERT INTO operator_action (actor, action, target, address, at) VALUES ($1, $2, $3, $4, $5) RETURNING id`;
const CONCLUDE =
  'INSERT INTO operator_outcome (action_id, outcome, made, amount) VALUES ($1, $2, $3, $4)';
const LIST = `
  SELECT id, actor, action, target, address, at, outcome, made, amount AS "amountMicroUsd"
    FROM operator_action LEFT JOIN operator_outcome ON action_id = id
   WHERE $1::bigint IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`;

/** Who requests which change. `target` is the id of the resource, `address` the source of the request. */
export interface NewOperatorAction {
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly address: string | null;
}

/** What came of an action. */
interface Outcome {
  /** `done` or the code of the error. */
  readonly outcome: string;
  /** The id of what it made, if it made anything. */
  readonly made: string | null;
  /** The money that it moved, in decimal digits. */
  readonly amountMicroUsd: string | null;
}

/** A recorded action; ids grow with time. Its outcome is null while it is under way, and if the process ended then. */
export interface OperatorAction extends NewOperatorAction, Omit<Outcome, 'outcome'> {
  readonly id: string;
  readonly at: Date;
  readonly outcome: string | null;
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
   * Records the action, does it, and records what came of it: from its answer the `id`, where it is another one than the
   * target's, and `amount_microusd`. Throws what the action throws. Throws before the action if it cannot be recorded; an
   * outcome that cannot be recorded is logged.
   */
  async perform<T>(action: NewOperatorAction, perform: () => Promise<T>): Promise<T> {
    const id = await this.record(action);
    let answer: T;
    try {
      answer = await perform();
    } catch (error) {
      const { code } = toGatewayError(error);
      await this.conclude(id, { outcome: code, made: null, amountMicroUsd: null });
      throw error;
    }
    await this.conclude(id, outcomeOf(answer, action.target));
    return answer;
  }

  /** Actions, newest first. */
  async list(page: PageRequest): Promise<Page<OperatorAction>> {
    const parameters = [cursorOf(page, 'position'), page.limit + 1];
    const rows = await this.dataSource.query<OperatorAction[]>(LIST, parameters);
    return pageOf(
      rows,
      page.limit,
      (row) => row,
      (row) => row.id,
    );
  }

  private async record({ actor, action, target, address }: NewOperatorAction): Promise<string> {
    const shown = target === null ? null : shownTarget(target);
    const at = new Date(this.clock.nowMs());
    const parameters = [actor, action, shown, address, at];
    const [row] = await this.dataSource.query<[{ readonly id: string }]>(INSERT, parameters);
    return row.id;
  }

  private async conclude(id: string, { outcome, made, amountMicroUsd }: Outcome): Promise<void> {
    try {
      await this.dataSource.query(CONCLUDE, [id, outcome, made, amountMicroUsd]);
    } catch (error) {
      this.logger.error(`The outcome of operator action ${id} was not recorded: ${String(error)}`);
    }
  }
}

/** An operator may send a key instead of its id by mistake, and no key may be in the record. */
function shownTarget(target: string): string {
  return redactText(target).slice(0, MAX_TARGET_CHARACTERS).replace(INVISIBLE, '?');
}

function outcomeOf(answer: unknown, target: string | null): Outcome {
  const { id, amount_microusd: amount } = isJsonObject(answer) ? answer : {};
  return {
    outcome: 'done',
    made: typeof id === 'string' && id !== target ? id : null,
    amountMicroUsd: typeof amount === 'string' && AMOUNT.test(amount) ? amount : null,
  };
}
