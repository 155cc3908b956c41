import type { AdminTasksService } from '../admin/admin-tasks.service.js';
import type { DeliveriesService } from '../admin/deliveries.service.js';
import type { OperatorActions } from '../admin/operator-actions.js';
import type { OperatorKeys } from '../admin/operator-keys.js';
import type { OperatorService } from '../admin/operator.service.js';
import type { SealedSecrets } from '../sealed/sealed-secrets.js';
import type { UsageService } from '../billing/usage/usage.service.js';
import type { Options, Question } from './operator-request.js';

/** The services that most commands use. The operator API uses the same. */
export interface Operators {
  readonly operator: OperatorService;
  readonly keys: OperatorKeys;
  readonly deliveries: DeliveriesService;
  readonly actions: OperatorActions;
  readonly usage: UsageService;
  readonly sealed: SealedSecrets;
}
/** The services that the commands about tasks use. */
export interface TaskOperators {
  readonly tasks: AdminTasksService;
  readonly actions: OperatorActions;
}

/** One command. Commands that change something are recorded. */
export interface OperatorCommand<Driven = Operators> {
  /** The arguments after its name. */
  readonly usage: string;
  readonly changes?: true;
  /**
   * For commands that take money, give it away or cannot be undone: on a terminal the operator is asked, unless `--yes` is there.
   * Where nobody can be asked, what moves money is done with `--yes` only. Undefined where nothing of the kind will be done.
   */
  readonly question?: (
    operators: Driven,
    words: readonly string[],
    options: Options,
  ) => Promise<Question | string | undefined>;
  readonly run: (operators: Driven, words: readonly string[], options: Options) => Promise<unknown>;
}
