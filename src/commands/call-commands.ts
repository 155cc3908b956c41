import { AdminExecutionsQuery, DeliveriesQuery } from '../admin/dto/admin.queries.js';
import { failedFilterOf, RedeliverBody } from '../admin/dto/webhook-receivers.dto.js';
import { viewAdminDelivery } from '../admin/views/admin-delivery.view.js';
import { viewAdminExecution } from '../admin/views/admin-execution.view.js';
import { AdminHoldsQuery, holdQueryOf } from '../billing/calls/dto/holds.query.js';
import { viewHold } from '../billing/calls/hold.view.js';
import { filterId } from '../common/ids/id-params.js';
import { viewPage } from '../common/paging/page.view.js';
import { notedEntry } from './command-answers.js';
import type { OperatorCommand } from './operator-command.js';
import { executionRefundQuestion } from './operator-questions.js';
import { given, misused, refundBodyOf, sent, timeOf, timesOf, without } from './parse-options.js';

/** The commands about synchronous calls and webhook deliveries. */
export const CALL_COMMANDS = {
  executions: {
    run: async ({ operator }, _words, options) => {
      const query = sent(AdminExecutionsQuery, options, timesOf(options));
      return viewPage(await operator.listExecutions(query), viewAdminExecution);
    },
  },
  execution: {
    run: async ({ operator }, [id = '']) => viewAdminExecution(await operator.execution(id)),
  },
  'execution:refund': {
    changes: true,
    question: executionRefundQuestion,
    run: async ({ operator }, [id = ''], options) => {
      const key = given(options, 'idempotency-key');
      return notedEntry(await operator.refund(id, refundBodyOf(options), key));
    },
  },
  holds: {
    run: async ({ holds }, _words, options) => {
      const { account_id: account, ...query } = sent(AdminHoldsQuery, options, timesOf(options));
      const accountId = filterId('acct', 'account_id', account);
      return viewPage(await holds.list(holdQueryOf(query, accountId)), viewHold);
    },
  },
  deliveries: {
    run: async ({ deliveries }, _words, options) =>
      viewPage(await deliveries.list(sent(DeliveriesQuery, options)), viewAdminDelivery),
  },
  'delivery:redeliver-failed': {
    changes: true,
    run: async ({ receivers }, _words, options) => {
      const failed_after = timeOf(options, 'failed-after');
      if (failed_after === undefined) throw misused('Say since when: --failed-after TIME.');
      const body = sent(RedeliverBody, without(options, 'failed-after'), { failed_after });
      const deliveries = await receivers.redeliver(failedFilterOf(body));
      return { object: 'redelivery', deliveries };
    },
  },
  'delivery:redeliver': {
    changes: true,
    run: async ({ deliveries }, [id = '']) => viewAdminDelivery(await deliveries.redeliver(id)),
  },
} as const satisfies Readonly<Record<string, OperatorCommand>>;
