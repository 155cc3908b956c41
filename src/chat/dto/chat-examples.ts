import type { ChatBody } from './chat.body.js';

/** A red square of 16 by 16 pixels. */
const RED_SQUARE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mO4o6FBEmIY1T' +
  'CqYfhqAAAyBCwQhCQ/2gAAAABJRU5ErkJggg==';

/** The named examples of POST /v1/chat/completions in Swagger. */
export const CHAT_EXAMPLES: Readonly<Record<string, Partial<ChatBody>>> = {
  minimal: {
    model: 'gen-5-mini',
    messages: [{ role: 'user', content: 'Why is the sky blue?' }],
  },
  stream: {
    model: 'gen-5-mini',
    messages: [{ role: 'user', content: 'Tell me a story in three sentences.' }],
    stream: true,
    stream_options: { include_usage: true },
  },
  tools: {
    model: 'gen-5-mini',
    messages: [{ role: 'user', content: 'What is the weather in Riga?' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather in a city right now',
          parameters: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
        },
      },
    ],
  },
  'JSON schema': {
    model: 'gen-5-mini',
    messages: [{ role: 'user', content: 'Name the capital of Latvia.' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
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
  image: {
    model: 'gen-5-mini',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Which colour is this?' },
          { type: 'image_url', image_url: { url: RED_SQUARE } },
        ],
      },
    ],
  },
};
