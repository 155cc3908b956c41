import type { Vendor } from '../vendors.js';

const HEAD = {
  id: 'chatcmpl-v1',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'v',
};
const event = (fields: object) => `data: ${JSON.stringify({ ...HEAD, ...fields })}\n\n`;
const says = (delta: object, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
const piece = (fields: object) => says({ tool_calls: [{ index: 0, ...fields }] });
const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 };

/** Chat completions, which OpenAI and most others speak. */
export const OPENAI_CHAT: Vendor = {
  name: 'openai chat',
  protocol: 'openai',
  basePath: '/v1',
  events: [
    says({ role: 'assistant', content: '' }),
    says({ content: 'Let me ' }),
    says({ content: 'look.' }),
    piece({ id: 'call_v1', type: 'function', function: { name: 'get_weather', arguments: '' } }),
    piece({ function: { arguments: '{"city":' } }),
    piece({ function: { arguments: '"Riga"}' } }),
    says({}, 'tool_calls'),
    event({ choices: [], usage }),
    'data: [DONE]\n\n',
  ],
  wholeAfter: 7,
  whole: {
    id: 'chatcmpl-v1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'v',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            {
              id: 'call_v1',
              type: 'function',
              function: { name: 'get_weather', arguments: '{"city":"Riga"}' },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  },
};
