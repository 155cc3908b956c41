import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../src/common/json-object.js';
import { postJson } from '../support/http-answer.js';
import { type GatewayFromOutside, sharedGateway } from '../support/shared-gateway.js';

/** The fields that Codex sends with every turn: it stores nothing, and sends the whole conversation. */
const CODEX = {
  model: 'gen-5',
  instructions: 'You are a coding agent.',
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { summary: 'auto' },
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: '0193a5e2-f0c4-7b1d-8e6f-5a4b3c2d1e0f',
  client_metadata: { session: 'a' },
  tools: [
    {
      type: 'function',
      name: 'shell',
      description: 'Runs a command',
      strict: false,
      parameters: { type: 'object', properties: { command: { type: 'string' } } },
    },
    {
      type: 'custom',
      name: 'apply_patch',
      description: 'Edits files',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
    },
    { type: 'web_search' },
    { type: 'namespace', name: 'mcp', tools: [] },
  ],
};
const developer = {
  type: 'message',
  role: 'developer',
  content: [{ type: 'input_text', text: 'Be careful.' }],
};
const asked = (text: string) => ({
  type: 'message',
  role: 'user',
  id: 'msg_of_codex',
  content: [{ type: 'input_text', text }],
});

let gateway: GatewayFromOutside;
let headers: Record<string, string>;
beforeAll(async () => {
  gateway = await sharedGateway();
  ({ headers } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

async function turn(input: readonly object[]) {
  const answer = await postJson(`${gateway.url}/v1/responses`, headers, { ...CODEX, input });
  const text = answer.bytes.toString();
  expect(answer.status === 200 ? '' : text).toBe('');
  const data = text.split('\n').filter((line) => line.startsWith('data: {'));
  const last = JSON.parse(data.at(-1)?.slice('data: '.length) ?? '') as JsonObject;
  return { answer, last, response: last.response as { output: JsonObject[] } & JsonObject };
}

describe('the requests of Codex', () => {
  it('are answered; what it cannot switch off is left out and named', async () => {
    const { answer, last, response } = await turn([developer, asked('Use shell to list files')]);
    expect(answer.headers.get('x-gateway-ignored-fields')).toBe(
      'client_metadata, tools.2:web_search, tools.3:namespace',
    );
    expect(last.type).toBe('response.completed');
    expect(response.store).toBe(false);
    expect(response.output).toMatchObject([{ type: 'function_call', name: 'shell' }]);
  });

  it('come back with the whole conversation, reasoning that is not ours included', async () => {
    const { response } = await turn([
      developer,
      asked('Use shell to list files'),
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA-of-another' },
      { type: 'function_call', call_id: 'c1', name: 'shell', arguments: '{"command":"ls"}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'function_call_output', call_id: 'c1', output: 'a.ts' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'done' },
    ]);
    expect(response.status).toBe('completed');
    const [last] = await gateway.upstreamRequests();
    const { messages } = last?.body as { messages: JsonObject[] };
    expect(messages.map(({ role }) => role)).toEqual([
      'system',
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
    ]);
    expect(messages[3]?.tool_calls).toHaveLength(2);
    expect(JSON.stringify(messages)).not.toContain('gAAAA');
  });
});
