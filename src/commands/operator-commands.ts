import { actionQueryOf, ActionsQuery } from '../admin/dto/admin.queries.js';
import { CatalogChangesQuery } from '../admin/dto/catalog.queries.js';
import { FindQuery } from '../admin/dto/find.query.js';
import { viewAudit } from '../admin/views/audit.view.js';
import { viewCatalogChange } from '../admin/views/catalog-change.view.js';
import { viewFound } from '../admin/views/found-record.view.js';
import { viewAction } from '../admin/views/operator-action.view.js';
import { viewReconciliation } from '../billing/reconciliation/reconciliation.view.js';
import { AdminUsageQuery, MarginQuery } from '../billing/usage/dto/usage.query.js';
import { pathId } from '../common/ids/id-params.js';
import { viewPage } from '../common/paging/page.view.js';
import { ACCOUNT_COMMANDS } from './account-commands.js';
import { CALL_COMMANDS } from './call-commands.js';
import type { OperatorCommandName } from './command-declarations.js';
import { csvPageOf } from './command-answers.js';
import { ENDPOINT_COMMANDS } from './endpoint-commands.js';
import { KEY_COMMANDS } from './key-commands.js';
import type { OperatorCommand } from './operator-command.js';
import { forgettingQuestion } from './operator-questions.js';
import { given, misused, sent, timesOf, usageDaysOf } from './parse-options.js';
import { PROVIDER_COMMANDS } from './provider-commands.js';
import { PRICE_BOOK_COMMANDS } from './price-book-commands.js';

const MAY_GO =
  'Nothing is sealed with an older key. Take the older keys out of SECRET_KEY, once every process of the gateway was started with this list and this command says so again.';
const MUST_STAY =
  'Something is still sealed with an older key: it must stay in SECRET_KEY. A process with the former list may seal with it: start all with this list, then run this command again.';

/** Every command but those about tasks and files, by its name. */
export const OPERATOR_COMMANDS: Readonly<Record<OperatorCommandName, OperatorCommand>> = {
  ...ACCOUNT_COMMANDS,
  ...KEY_COMMANDS,
  ...PRICE_BOOK_COMMANDS,
  ...CALL_COMMANDS,
  ...ENDPOINT_COMMANDS,
  ...PROVIDER_COMMANDS,
  'secret:rotate': {
    changes: true,
    run: async ({ sealed }) => {
      const { sealedAnew, left, unreadable } = await sealed.rotate();
      const advice = left === 0 ? MAY_GO : MUST_STAY;
      return { sealed_anew: sealedAnew, sealed_with_older_keys: left, unreadable, advice };
    },
  },
  'secret:forget': {
    changes: true,
    question: forgettingQuestion,
    run: async ({ sealed }) => ({ dropped: await sealed.forget() }),
  },
  usage: {
    run: async ({ usage }, _words, options) => {
      const format = options.csv === true ? 'csv' : 'json';
      const sentQuery = sent(AdminUsageQuery, options, { ...usageDaysOf(options), format });
      const { account_id: id, ...query } = sentQuery;
      const account = id === undefined ? undefined : pathId('acct', id);
      return csvPageOf((head) =>
        usage.respond(query, { accountId: account, isOperator: true }, head),
      );
    },
  },
  margin: {
    run: async ({ usage }, _words, options) => {
      const format = options.csv === true ? 'csv' : 'json';
      const { account_id: id, ...query } = sent(MarginQuery, options, {
        ...usageDaysOf(options),
        format,
      });
      const account = id === undefined ? undefined : pathId('acct', id);
      return csvPageOf((head) => usage.respondMargins(query, account, head));
    },
  },
  'vendor:reconcile': {
    run: async ({ bills }, [file = ''], options) => {
      const provider = given(options, 'provider');
      if (provider === undefined) throw misused('Name the provider: --provider ID.');
      const { created_after: after, created_before: before } = timesOf(options);
      const [from, to] = [after, before].map((time) =>
        time === undefined ? undefined : new Date(time * 1000),
      );
      return viewReconciliation(provider, await bills.compare(file, { provider, from, to }));
    },
  },
  actions: {
    run: async ({ actions }, _words, options) => {
      const query = actionQueryOf(sent(ActionsQuery, options, timesOf(options)));
      return viewPage(await actions.list(query), viewAction);
    },
  },
  find: {
    run: async ({ ids }, [id = ''], options) =>
      viewPage(
        { items: await ids.find(sent(FindQuery, options, { id })), nextCursor: null },
        viewFound,
      ),
  },
  'catalog:changes': {
    run: async ({ catalogChanges }, _words, options) =>
      viewPage(await catalogChanges.list(sent(CatalogChangesQuery, options)), viewCatalogChange),
  },
  audit: {
    run: async ({ operator }, _words, { full }) =>
      viewAudit(await operator.audit(full === true ? 'full' : 'new')),
  },
};
