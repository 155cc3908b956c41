import type { MessagesBody } from './messages.body.js';

const WEATHER = {
  name: 'get_weather',
  description: 'The weather in a city right now',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
  },
};
const QUESTION = { role: 'user', content: 'What is the weather in Riga?' };

/** The named examples of POST /v1/messages in Swagger. */
export const MESSAGE_EXAMPLES: Readonly<Record<string, Partial<MessagesBody>>> = {
  minimal: {
    model: 'gen-5-mini',
    max_tokens: 1024,
    messages: [{ role: 'user', content: 'Why is the sky blue?' }],
  },
  stream: {
    model: 'gen-5-mini',
    max_tokens: 1024,
    stream: true,
    messages: [{ role: 'user', content: 'Tell me a story in three sentences.' }],
  },
  tools: { model: 'gen-5-mini', max_tokens: 1024, messages: [QUESTION], tools: [WEATHER] },
  'tool result': {
    model: 'gen-5-mini',
    max_tokens: 1024,
    messages: [
      QUESTION,
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'call_1', name: 'get_weather', input: { city: 'Riga' } }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny, 21 °C' }],
      },
    ],
    tools: [WEATHER],
  },
};

/** The example of POST /v1/messages/count_tokens in Swagger. */
export const COUNT_EXAMPLES: Readonly<Record<string, Partial<MessagesBody>>> = {
  count: { model: 'gen-5-mini', messages: [{ role: 'user', content: 'Why is the sky blue?' }] },
};
