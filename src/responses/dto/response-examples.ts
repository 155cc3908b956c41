import type { ResponsesBody } from './responses.body.js';

const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'The weather in a city right now',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
};

/** The named examples of POST /v1/responses in Swagger. */
export const RESPONSE_EXAMPLES: Readonly<Record<string, Partial<ResponsesBody>>> = {
  minimal: { model: 'gen-5-mini', input: 'Why is the sky blue?' },
  stream: { model: 'gen-5-mini', input: 'Tell me a story in three sentences.', stream: true },
  tools: { model: 'gen-5-mini', input: 'What is the weather in Riga?', tools: [WEATHER] },
  'tool result': {
    model: 'gen-5-mini',
    input: [
      { role: 'user', content: 'What is the weather in Riga?' },
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'get_weather',
        arguments: '{"city":"Riga"}',
      },
      { type: 'function_call_output', call_id: 'call_1', output: 'sunny, 21 °C' },
    ],
    tools: [WEATHER],
  },
  background: { model: 'gen-5-mini', input: 'Write a long report.', background: true },
  'JSON schema': {
    model: 'gen-5-mini',
    input: 'Name the capital of Latvia.',
    text: {
      format: {
        type: 'json_schema',
        name: 'capital',
        strict: true,
        schema: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
          additionalProperties: false,
        },
      },
    },
  },
};

/** The example of POST /v1/responses/input_tokens in Swagger. */
export const TOKEN_EXAMPLES: Readonly<Record<string, Partial<ResponsesBody>>> = {
  count: { model: 'gen-5-mini', input: 'Why is the sky blue?' },
};
