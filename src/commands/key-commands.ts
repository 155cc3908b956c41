import { RotateKeyBody } from '../admin/dto/admin.bodies.js';
import { CreateKeyBody, UpdateKeyBody } from '../auth/dto/key-terms.body.js';
import { viewIssuedKey, viewKey } from '../auth/api-key.view.js';
import { PageQuery } from '../common/paging/page.query.js';
import { viewPage } from '../common/paging/page.view.js';
import type { OperatorCommand } from './operator-command.js';
import { revocationQuestion } from './operator-questions.js';
import type { Options } from './operator-request.js';
import { amountOf, clearedOf, given, sent, timeOf, without } from './parse-options.js';

const LIMIT = 'spend-limit-microusd';
/** The terms that `--clear` removes, by the names of their options. */
const CLEARABLE: readonly string[] = [
  'name',
  'allowed-models',
  'expires-at',
  'requests-per-minute',
  LIMIT,
  'spend-limit-period',
  'scopes',
];

/** The terms of a key that the options set, as fields of its body. Throws 400. */
function termsOf(options: Options): object {
  const models = given(options, 'allowed-models') ?? given(options, 'models');
  const limit = amountOf(options, LIMIT, 'spend-limit-usd');
  const expiresAt = timeOf(options, 'expires-at');
  const scopes = given(options, 'scopes');
  return {
    ...(models !== undefined && { allowed_models: models.split(',') }),
    ...(scopes !== undefined && { scopes: scopes.split(',') }),
    ...(limit !== undefined && { spend_limit_microusd: limit }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
  };
}

/** The commands about API keys. */
export const KEY_COMMANDS = {
  keys: {
    run: async ({ keys }, [account = ''], options) =>
      viewPage(await keys.list(account, sent(PageQuery, options)), viewKey),
  },
  key: { run: async ({ keys }, [id = '']) => viewKey(await keys.get(id)) },
  'key:create': {
    changes: true,
    run: async ({ keys }, [account = ''], options) => {
      const body = sent(CreateKeyBody, without(options, LIMIT), termsOf(options));
      return viewIssuedKey(await keys.create(account, body));
    },
  },
  'key:update': {
    changes: true,
    run: async ({ keys }, [id = ''], options) => {
      const body = sent(UpdateKeyBody, without(options, LIMIT), termsOf(options));
      const cleared = clearedOf(options, CLEARABLE, body);
      return viewKey(await keys.update(id, body, cleared));
    },
  },
  'key:rotate': {
    changes: true,
    run: async ({ keys }, [id = ''], options) =>
      viewIssuedKey(await keys.rotate(id, sent(RotateKeyBody, options).overlap_seconds)),
  },
  'key:revoke': {
    changes: true,
    question: revocationQuestion,
    run: async ({ keys }, [id = '']) => {
      await keys.revoke(id);
      return { id, revoked: true };
    },
  },
  'demo-key': {
    changes: true,
    run: async ({ operator, keys }) =>
      viewIssuedKey(await keys.create(await operator.demoAccount(), { name: 'demo' })),
  },
} as const satisfies Readonly<Record<string, OperatorCommand>>;
