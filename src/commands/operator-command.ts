import type { AdminTasksService } from '../admin/admin-tasks.service.js';
import type { DeliveriesService } from '../admin/deliveries.service.js';
import type { OperatorActions } from '../admin/operator-actions.js';
import type { OperatorKeys } from '../admin/operator-keys.js';
import type { OperatorService } from '../admin/operator.service.js';
import type { UsageService } from '../usage/usage.service.js';

/** Everything the commands drive: what the operator API drives too. */
export interface Operators {
  readonly operator: OperatorService;
  readonly keys: OperatorKeys;
  readonly tasks: AdminTasksService;
  readonly deliveries: DeliveriesService;
  readonly actions: OperatorActions;
  readonly usage: UsageService;
}
/** Options by their names on the command line. */
export type Options = Readonly<Record<string, string | boolean | undefined>>;

/** One command; those that change something leave a record. */
export interface OperatorCommand {
  /** What follows its name. */
  readonly usage: string;
  readonly changes?: true;
  readonly run: (operators: Operators, words: string[], options: Options) => Promise<unknown>;
}
