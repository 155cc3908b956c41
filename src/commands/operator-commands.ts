import {
  CreateAccountBody,
  CreateKeyBody,
  CreditBody,
  RefundBody,
  RotateKeyBody,
  UpdateAccountBody,
  UpdateKeyBody,
} from '../admin/dto/admin.bodies.js';
import {
  AccountsQuery,
  AdminExecutionsQuery,
  DeliveriesQuery,
  LedgerQuery,
} from '../admin/dto/admin.queries.js';
import { viewAccount } from '../admin/views/account-record.view.js';
import { viewAdminExecution } from '../admin/views/admin-execution.view.js';
import { viewIssuedKey, viewKey } from '../admin/views/api-key.view.js';
import { viewAudit } from '../admin/views/audit.view.js';
import { viewEntry } from '../admin/views/ledger-entry.view.js';
import { viewAction } from '../admin/views/operator-action.view.js';
import { pathId } from '../common/ids/id-params.js';
import { PageQuery } from '../common/paging/page.query.js';
import { NEXT_CURSOR_HEADER, viewPage } from '../common/paging/page.view.js';
import { AdminUsageQuery } from '../billing/usage/dto/usage.query.js';
import { viewDelivery } from '../webhooks/delivery.view.js';
import type { OperatorCommand } from './operator-command.js';
import {
  correctionQuestion,
  executionRefundQuestion,
  revocationQuestion,
} from './operator-questions.js';
import { KEYED, type Options } from './operator-request.js';
import { SECRET_COMMANDS } from './secret-commands.js';
import { FILTERS, given, PAGE, REFUND, sent } from './parse-options.js';

const KEY_TERMS =
  '[--name TEXT] [--models ID,ID] [--expires-at EPOCH_SECONDS] [--requests-per-minute N] [--spend-limit-microusd N] [--spend-limit-period day|month|total]';
const modelsOf = (options: Options) => {
  const models = given(options, 'models');
  return models === undefined ? {} : { allowed_models: models.split(',') };
};

const ACCOUNTS: Readonly<Record<string, OperatorCommand>> = {
  accounts: {
    usage: `[--name PREFIX] ${PAGE}`,
    run: async ({ operator }, _words, options) =>
      viewPage(await operator.accounts(sent(AccountsQuery, options)), viewAccount),
  },
  account: {
    usage: 'ACCOUNT',
    run: async ({ operator }, [id = '']) => viewAccount(await operator.account(id)),
  },
  'account:create': {
    usage: 'NAME [--play-money true|false]',
    changes: true,
    run: async ({ operator }, [name], options) => {
      const body = sent(CreateAccountBody, options, name === undefined ? {} : { name });
      return viewAccount(await operator.createAccount(body));
    },
  },
  'account:update': {
    usage: 'ACCOUNT [--name TEXT] [--disabled true|false]',
    changes: true,
    run: async ({ operator }, [id = ''], options) =>
      viewAccount(await operator.updateAccount(id, sent(UpdateAccountBody, options))),
  },
  [KEYED.credit]: {
    usage: 'ACCOUNT AMOUNT_MICROUSD [--note TEXT] [--idempotency-key KEY] [--yes]',
    changes: true,
    question: correctionQuestion,
    run: async ({ operator }, [account = '', amount], options) => {
      const body = sent(
        CreditBody,
        options,
        amount === undefined ? {} : { amount_microusd: amount },
      );
      const key = given(options, 'idempotency-key');
      return viewEntry(await operator.credit(account, body, key));
    },
  },
  ledger: {
    usage: `ACCOUNT [--kind credit|correction|charge] [--model ID] [--api-key-id K] [--created-after T] [--created-before T] ${PAGE}`,
    run: async ({ operator }, [account = ''], options) =>
      viewPage(await operator.entries(account, sent(LedgerQuery, options)), viewEntry),
  },
};

const KEYS: Readonly<Record<string, OperatorCommand>> = {
  keys: {
    usage: `ACCOUNT ${PAGE}`,
    run: async ({ keys }, [account = ''], options) =>
      viewPage(await keys.list(account, sent(PageQuery, options)), viewKey),
  },
  key: {
    usage: 'KEY',
    run: async ({ keys }, [id = '']) => viewKey(await keys.get(id)),
  },
  'key:create': {
    usage: `ACCOUNT ${KEY_TERMS}`,
    changes: true,
    run: async ({ keys }, [account = ''], options) =>
      viewIssuedKey(await keys.create(account, sent(CreateKeyBody, options, modelsOf(options)))),
  },
  'key:update': {
    usage: `KEY ${KEY_TERMS} [--clear FIELD,FIELD]`,
    changes: true,
    run: async ({ keys }, [id = ''], options) => {
      const cleared = given(options, 'clear')?.replaceAll('-', '_').split(',') ?? [];
      const nothing = Object.fromEntries(cleared.map((name) => [name, null]));
      const body = sent(UpdateKeyBody, options, { ...modelsOf(options), ...nothing });
      return viewKey(await keys.update(id, body, new Set(cleared)));
    },
  },
  'key:rotate': {
    usage: 'KEY [--overlap-seconds N]',
    changes: true,
    run: async ({ keys }, [id = ''], options) =>
      viewIssuedKey(await keys.rotate(id, sent(RotateKeyBody, options).overlap_seconds)),
  },
  'key:revoke': {
    usage: 'KEY [--yes]',
    changes: true,
    question: revocationQuestion,
    run: async ({ keys }, [id = '']) => {
      await keys.revoke(id);
      return { id, revoked: true };
    },
  },
  'demo-key': {
    usage: '',
    changes: true,
    run: async ({ operator, keys }) =>
      viewIssuedKey(await keys.create(await operator.demoAccount(), { name: 'demo' })),
  },
};

const CALLS: Readonly<Record<string, OperatorCommand>> = {
  executions: {
    usage: `${FILTERS} [--client-request-id ID] [--broken true|false] ${PAGE}`,
    run: async ({ operator }, _words, options) =>
      viewPage(
        await operator.listExecutions(sent(AdminExecutionsQuery, options)),
        viewAdminExecution,
      ),
  },
  execution: {
    usage: 'EXECUTION',
    run: async ({ operator }, [id = '']) => viewAdminExecution(await operator.execution(id)),
  },
  [KEYED.refundExecution]: {
    usage: `EXECUTION ${REFUND} [--yes]`,
    changes: true,
    question: executionRefundQuestion,
    run: async ({ operator }, [id = ''], options) =>
      viewEntry(
        await operator.refund(id, sent(RefundBody, options), given(options, 'idempotency-key')),
      ),
  },
  deliveries: {
    usage: `[--task-id TASK] [--status pending|delivered|failed] ${PAGE}`,
    run: async ({ deliveries }, _words, options) =>
      viewPage(await deliveries.list(sent(DeliveriesQuery, options)), viewDelivery),
  },
  'delivery:redeliver': {
    usage: 'DELIVERY',
    changes: true,
    run: async ({ deliveries }, [id = '']) => viewDelivery(await deliveries.redeliver(id)),
  },
};

/** Every command but those about tasks, by its name, in the order of the help. */
export const OPERATOR_COMMANDS: Readonly<Record<string, OperatorCommand>> = {
  ...ACCOUNTS,
  ...KEYS,
  ...CALLS,
  ...SECRET_COMMANDS,
  usage: {
    usage:
      '[--group-by day,model,key,endpoint,account] [--from DAY] [--to DAY] [--account-id A] [--api-key-id K] [--model ID] [--limit N] [--cursor C] [--csv]',
    run: async ({ usage }, _words, options) => {
      const query = sent(AdminUsageQuery, options, { format: options.csv ? 'csv' : 'json' });
      const { account_id: id, ...rest } = query;
      const account = id === undefined ? undefined : pathId('acct', id);
      const head = new Map<string, string>();
      const text = await usage.respond(rest, account, {
        type: () => undefined,
        setHeader: (name, value) => head.set(name, value),
      });
      const cursor = head.get(NEXT_CURSOR_HEADER);
      return cursor === undefined ? text : { text, next_cursor: cursor };
    },
  },
  actions: {
    usage: PAGE,
    run: async ({ actions }, _words, options) =>
      viewPage(await actions.list(sent(PageQuery, options)), viewAction),
  },
  audit: {
    usage: '[--full]',
    run: async ({ operator }, _words, { full }) =>
      viewAudit(await operator.audit(full === true ? 'full' : 'new')),
  },
};
