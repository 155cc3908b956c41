import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/common/json-object.js';
import { postJson } from '../support/http-answer.js';
import { type GatewayFromOutside, sharedGateway } from '../support/shared-gateway.js';

/** Requests with the fields that Claude Code sends, written from its documented contract with gateways. */
const HEADERS = {
  'anthropic-version': '2023-06-01',
  'anthropic-beta':
    'claude-code-20250219,effort-2025-11-24,interleaved-thinking-2025-05-14,mid-conversation-system-2026-04-07,structured-outputs-2025-12-15,context-management-2025-06-27',
  'anthropic-dangerous-direct-browser-access': 'true',
  'x-app': 'cli',
  'x-claude-code-session-id': '0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f7a',
  'x-stainless-retry-count': '0',
};
const CACHED = { cache_control: { type: 'ephemeral' } };
const ATTRIBUTION = 'x-anthropic-billing-header: cc_version=2.1.0; cc_entrypoint=cli;';
const MAIN = {
  model: 'gen-claude-like',
  max_tokens: 32_000,
  stream: true,
  temperature: 1,
  system: [
    { type: 'text', text: ATTRIBUTION },
    { type: 'text', text: 'You are a coding agent.', ...CACHED },
  ],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Use Read for a.ts', ...CACHED }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I read it.', signature: '' },
        { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: 'a.ts' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'empty' }] },
        { type: 'text', text: 'Say hello', ...CACHED },
      ],
    },
    { role: 'system', content: 'The files have changed.' },
  ],
  tools: [
    {
      name: 'Read',
      description: 'Reads a file',
      input_schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { file_path: { type: 'string' } },
        required: ['file_path'],
        additionalProperties: false,
      },
      eager_input_streaming: true,
    },
  ],
  thinking: { type: 'adaptive' },
  output_config: { effort: 'high' },
  metadata: { user_id: 'user_1_account__session_0190a6a0' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
};
const QUICK = {
  model: 'gen-5-mini',
  max_tokens: 1,
  messages: [{ role: 'user', content: 'quota' }],
  metadata: { user_id: 'user_1_account__session_0190a6a0' },
};

let gateway: GatewayFromOutside;
let headers: Record<string, string>;

beforeAll(async () => {
  gateway = await sharedGateway();
  ({ headers } = await gateway.account());
});
afterAll(() => gateway.stop());

const post = (path: string, body: object) =>
  postJson(`${gateway.url}${path}`, { ...headers, ...HEADERS }, body);

describe('Claude Code', () => {
  it.each(['gen-claude-like', 'gen-5'])('works in its main loop with %s', async (model) => {
    const answer = await post('/v1/messages?beta=true', { ...MAIN, model });
    expect([answer.status, answer.headers.get('x-gateway-ignored-fields')]).toEqual([
      200,
      'context_management',
    ]);
    expect(answer.bytes.toString()).toMatch(/^event: message_start\n[^]*event: message_stop\n/);
  });

  it('sends its attribution block on unchanged, and no thoughts without a signature', async () => {
    await post('/v1/messages?beta=true', MAIN);
    const [last] = await gateway.upstreamRequests();
    const { system, messages } = last?.body as { system: JsonObject[]; messages: JsonObject[] };
    expect(system[0]).toEqual({ type: 'text', text: ATTRIBUTION });
    expect(JSON.stringify(messages)).not.toContain('I read it.');
  });

  it('asks for one token, and counts tokens', async () => {
    expect((await post('/v1/messages?beta=true', QUICK)).status).toBe(200);
    const { max_tokens: _cap, stream: _stream, metadata: _who, ...counted } = MAIN;
    const count = await post('/v1/messages/count_tokens?beta=true', counted);
    expect(count.json).toEqual({ input_tokens: expect.any(Number) });
  });
});
