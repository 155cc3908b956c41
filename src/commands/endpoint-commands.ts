import { viewAdminDelivery } from '../admin/views/admin-delivery.view.js';
import { toPublicId } from '../common/ids/public-id.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import { WebhookEndpointBody } from '../webhooks/endpoints/webhook-endpoint.body.js';
import { viewEndpoint } from '../webhooks/endpoints/webhook-endpoint.view.js';
import type { OperatorCommand } from './operator-command.js';
import type { Options } from './operator-request.js';
import { given, sent } from './parse-options.js';

const LINE_END = /\r?\n$/;

/** The fields that are not the text of their option. */
function termsOf(options: Options): object {
  const [events, secret] = [given(options, 'events'), given(options, 'secret-file')];
  return {
    ...(events !== undefined && { events: events.split(',') }),
    ...(secret !== undefined && { secret: secret.replace(LINE_END, '') }),
  };
}

/** The commands about the endpoints that are told the events of accounts. */
export const ENDPOINT_COMMANDS = {
  'webhook-endpoints': {
    run: async ({ endpoints }, [account = ''], options) =>
      viewPage(await endpoints.list(account, sent(PageQuery, options)), viewEndpoint),
  },
  'webhook-endpoint': {
    run: async ({ endpoints }, [id = '']) => viewEndpoint(await endpoints.get(id)),
  },
  'webhook-endpoint:create': {
    changes: true,
    run: async ({ endpoints }, [account = ''], options) => {
      const body = sent(WebhookEndpointBody, options, termsOf(options));
      return viewEndpoint(await endpoints.create(account, body));
    },
  },
  'webhook-endpoint:delete': {
    changes: true,
    question: async ({ endpoints }, [id = '']) => {
      const { accountId, url } = await endpoints.get(id);
      const account = toPublicId('acct', accountId);
      const asks = `This tells ${url} no more events of account ${account}. Its secret is lost.`;
      return { asks, scriptsGoAhead: true };
    },
    run: async ({ endpoints }, [id = '']) => {
      await endpoints.delete(id);
      return { id, deleted: true };
    },
  },
  'webhook-endpoint:test': {
    changes: true,
    run: async ({ endpoints }, [id = '']) => viewAdminDelivery(await endpoints.test(id)),
  },
} as const satisfies Readonly<Record<string, OperatorCommand>>;
