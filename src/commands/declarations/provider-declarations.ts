import type { CommandDeclaration, OperandDeclaration } from '../command-declaration.js';

const ROUTE: readonly OperandDeclaration[] = [
  { name: 'PROVIDER', about: 'Id of the provider, such as openai' },
  {
    name: 'ROUTE',
    about: 'Name of a model there, such as gpt-5. Absent: all of the provider',
    isOptional: true,
  },
];

/** What the commands about providers and their routes take. */
export const PROVIDER_DECLARATIONS = {
  providers: {
    about: 'Shows how each provider and route does, its breakers, keys, cost of today and pauses',
    notes: ['Attempts are those of the last hour in all processes that run.'],
    example: 'providers --json',
  },
  'route:pause': {
    about: 'Lets new calls and tasks pass over a route, in every process within seconds',
    operands: ROUTE,
    options: {
      reason: { value: 'TEXT', about: 'Why, for other operators' },
      'expires-at': {
        value: 'TIME',
        about:
          'When it ends: epoch seconds, a date (00:00 UTC) or a time in ISO 8601, at most 30 days ahead. Absent: in an hour',
      },
    },
    notes: ['A model whose routes are all paused answers 503.'],
    example: 'route:pause openai gpt-5 --reason maintenance',
  },
  'route:resume': {
    about: 'Ends the pause of a route',
    operands: ROUTE,
    example: 'route:resume openai gpt-5',
  },
  'route:probe': {
    about: 'Asks a provider for something that costs nothing, and says what it answered',
    operands: ROUTE,
    notes: ['A gateway has to run beside it: only that has the keys of the providers.'],
    example: 'route:probe openai gpt-5',
  },
} as const satisfies Readonly<Record<string, CommandDeclaration>>;
