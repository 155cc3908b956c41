import { RefundBody } from '../admin/dto/admin.bodies.js';
import { ResolveTaskBody } from '../admin/dto/resolve-task.body.js';
import { viewEntry } from '../admin/views/ledger-entry.view.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { AdminTasksQuery } from '../tasks/dto/tasks.query.js';
import type { OperatorCommand, TaskOperators } from './operator-command.js';
import { KEYED } from './operator-request.js';
import { FILTERS, given, jsonOf, PAGE, REFUND, sent } from './sent-options.js';

/** The commands about tasks, by their names. */
export const TASK_COMMANDS: Readonly<Record<string, OperatorCommand<TaskOperators>>> = {
  tasks: {
    usage: `${FILTERS} [--client-request-id ID] [--modality audio|video] ${PAGE}`,
    run: ({ tasks }, _words, options) => tasks.list(sent(AdminTasksQuery, options)),
  },
  task: { usage: 'TASK', run: ({ tasks }, [id = '']) => tasks.get(id) },
  'task:resolve': {
    usage: 'TASK succeeded|failed [--charge AMOUNT_MICROUSD] [--result JSON]',
    changes: true,
    run: ({ tasks }, [task = '', outcome], options) =>
      tasks.resolve(
        task,
        validatorOf(ResolveTaskBody).parse({
          outcome,
          charged_microusd: given(options, 'charge'),
          result: jsonOf(given(options, 'result')),
        }),
      ),
  },
  [KEYED.refundTask]: {
    usage: `TASK ${REFUND}`,
    changes: true,
    run: async ({ tasks }, [id = ''], options) =>
      viewEntry(
        await tasks.refund(id, sent(RefundBody, options), given(options, 'idempotency-key')),
      ),
  },
};
