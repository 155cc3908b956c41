import type { CommandDeclaration } from '../command-declaration.js';
import { ACCOUNT, operand, PAGE, YES } from './shared-options.js';

const ENDPOINT = operand('ENDPOINT', 'Id of the endpoint, whe_…');

/** What the commands about the endpoints take that are told the events of accounts. */
export const ENDPOINT_DECLARATIONS = {
  'webhook-endpoints': {
    about: 'Lists the endpoints that are told the events of an account, newest first',
    operands: [ACCOUNT],
    options: PAGE,
    example: 'webhook-endpoints acme',
  },
  'webhook-endpoint': {
    about: 'Shows an endpoint that is told the events of an account',
    operands: ENDPOINT,
    example: 'webhook-endpoint whe_…',
  },
  'webhook-endpoint:create': {
    about: 'Has an endpoint told the events of an account',
    operands: [ACCOUNT],
    options: {
      url: { value: 'URL', about: 'A public https URL' },
      'secret-file': {
        value: 'FILE',
        isFile: true,
        about:
          'A file with the secret that signs the deliveries, 16 to 256 characters; the end of its last line is not part of it',
      },
      events: {
        value: 'TYPE,TYPE',
        about:
          'What it is told: balance.low, balance.depleted, limit.reached, key.expiring, task.finished, task.unknown',
      },
    },
    notes: ['An account has at most 10 endpoints.'],
    example:
      'webhook-endpoint:create acme --url https://example.com/hooks --secret-file secret.txt --events balance.low,balance.depleted',
  },
  'webhook-endpoint:delete': {
    about: 'Tells an endpoint no more events; what it was told before is still delivered',
    operands: ENDPOINT,
    options: YES,
    example: 'webhook-endpoint:delete whe_…',
  },
  'webhook-endpoint:test': {
    about: 'Sends an endpoint an event of type test',
    operands: ENDPOINT,
    example: 'webhook-endpoint:test whe_…',
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;
