/** Who speaks in a message (decision G-92). */
export const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

const PART = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { type: 'string', enum: ['text', 'image_url', 'refusal'] },
    text: { type: 'string' },
    image_url: {
      type: 'object',
      required: ['url'],
      properties: { url: { type: 'string' }, detail: { type: 'string' } },
    },
  },
};

/** OpenAPI schema of a message. */
export const MESSAGE_SCHEMA = {
  type: 'object',
  required: ['role'],
  properties: {
    role: { type: 'string', enum: [...ROLES] },
    content: { oneOf: [{ type: 'string' }, { type: 'array', items: PART }], nullable: true },
    name: { type: 'string' },
    tool_calls: { type: 'array', items: { type: 'object' } },
    tool_call_id: { type: 'string' },
  },
};
