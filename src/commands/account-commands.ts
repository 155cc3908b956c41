import { CreateAccountBody, UpdateAccountBody } from '../admin/dto/admin.bodies.js';
import { PortalLinkBody } from '../admin/portal-links.js';
import { AccountsQuery, LedgerQuery } from '../admin/dto/admin.queries.js';
import {
  viewAccount,
  viewAccountDetail,
  viewListedAccount,
} from '../admin/views/account-record.view.js';
import { viewConsoleSession } from '../admin/views/session.view.js';
import { viewPage } from '../common/paging/page.view.js';
import type { StatementFormat } from '../billing/statements/dto/statement.query.js';
import { notFound, pathId } from '../common/ids/id-params.js';
import { PageQuery } from '../common/paging/page.query.js';
import { csvPageOf, inPieces, notedEntry } from './command-answers.js';
import type { OperatorCommand } from './operator-command.js';
import { creditQuestion, erasureQuestion } from './operator-questions.js';
import type { Options } from './operator-request.js';
import {
  amountOf,
  clearedOf,
  creditBodyOf,
  given,
  misused,
  sent,
  timesOf,
  without,
} from './parse-options.js';

const AVAILABLE_BELOW = 'available-below';
const LOW_BALANCE = 'low-balance-microusd';

/** The commands about accounts and their money. */
export const ACCOUNT_COMMANDS = {
  accounts: {
    run: async ({ operator }, _words, options) =>
      viewPage(await operator.accounts(accountsQueryOf(options)), viewListedAccount),
  },
  account: {
    run: async ({ operator }, [id = '']) => viewAccountDetail(await operator.account(id)),
  },
  'account:create': {
    changes: true,
    run: async ({ operator }, [name], options) =>
      viewAccount(await operator.createAccount(sent(CreateAccountBody, options, { name }))),
  },
  'account:update': {
    changes: true,
    run: async ({ operator }, [id = ''], options) => {
      const low = amountOf(options, LOW_BALANCE, 'low-balance-usd');
      const more = low === undefined ? {} : { low_balance_microusd: low };
      const body = sent(UpdateAccountBody, without(options, LOW_BALANCE), more);
      const cleared = clearedOf(options, ['price-book', LOW_BALANCE], body);
      return viewAccount(await operator.updateAccount(id, body, cleared));
    },
  },
  'account:credit': {
    changes: true,
    question: creditQuestion,
    run: async ({ operator }, [account = '', amount], options) => {
      const key = given(options, 'idempotency-key');
      return notedEntry(await operator.credit(account, creditBodyOf(amount, options), key));
    },
  },
  'account:erase-content': {
    changes: true,
    question: erasureQuestion,
    run: async ({ operator, responses }, [id = '']) => {
      await operator.account(id);
      return { erased_responses: await responses.erase(pathId('acct', id)) };
    },
  },
  'account:portal-link': {
    changes: true,
    run: ({ portalLinks }, [id = ''], options) => {
      const scopes = given(options, 'scopes');
      const more = scopes === undefined ? {} : { scopes: scopes.split(',') };
      return portalLinks.make(id, sent(PortalLinkBody, without(options, 'scopes'), more));
    },
  },
  sessions: {
    run: async ({ sessions }, _operands, options) =>
      viewPage(await sessions.list(sent(PageQuery, options)), viewConsoleSession),
  },
  'session:end': {
    changes: true,
    run: async ({ sessions }, [id = '']) => {
      if (!(await sessions.end(pathId('ses', id)))) throw notFound('ses');
      return { id, ended: true };
    },
  },
  statement: {
    run: async ({ statements }, [account = '', month = ''], options) => {
      const format = statementFormatOf(options);
      const accountId = pathId('acct', account);
      return csvPageOf((head) =>
        statements.answer(accountId, month, { format, isOperator: true, sendAll: inPieces }, head),
      );
    },
  },
  ledger: {
    run: async ({ ledger }, [account], options) => {
      const format = options.csv === true ? 'csv' : 'json';
      const query = sent(LedgerQuery, options, { ...timesOf(options), format });
      return csvPageOf((head) => ledger.answer(account, query, head, inPieces));
    },
  },
} as const satisfies Readonly<Record<string, OperatorCommand>>;

/** Throws 400. */
function accountsQueryOf(options: Options): AccountsQuery {
  const below = amountOf(options, AVAILABLE_BELOW, 'available-below-usd');
  const more = below === undefined ? {} : { available_below: below };
  return sent(AccountsQuery, without(options, AVAILABLE_BELOW), more);
}

function statementFormatOf({ csv, html }: Options): StatementFormat {
  if (csv === true && html === true) throw misused('Use --csv or --html, not both.');
  if (csv === true) return 'csv';
  return html === true ? 'html' : 'json';
}
