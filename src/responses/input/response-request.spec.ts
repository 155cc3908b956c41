import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json-object.js';
import { IgnoredFields } from '../../text/ignored-fields.js';
import type { TextRequest } from '../../text/text-request.js';
import type { ResponsesBody } from '../dto/responses.body.js';
import { messagesOf } from './item-conversation.js';
import { nativeBodyOf } from './native-request.js';
import { textRequestOf } from './response-request.js';

const LARGE = 'x'.repeat(50_000);
const SAID = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
const functionOf = (name: string, description: string) => ({ type: 'function', name, description });
const small = functionOf('small', 'Small');

/** The request that a body and its items make, and what a vendor of the same protocol gets of it. */
function asked(body: JsonObject, items: readonly JsonObject[] = []): TextRequest {
  const sent = body as unknown as ResponsesBody;
  const placed = [SAID, ...items].map((item) => ({ item, param: 'input' }));
  const open = () => undefined;
  const native = nativeBodyOf(sent, placed, open);
  return textRequestOf(sent, messagesOf(placed, open), native, new IgnoredFields());
}

const nativeBytes = ({ request }: TextRequest): number =>
  Buffer.byteLength(JSON.stringify(request.native));

describe('the upper bound of a prompt of responses', () => {
  it.each<[string, JsonObject, JsonObject[]]>([
    [
      'tools that the model may not call now',
      {
        tools: [small, functionOf('large', LARGE)],
        tool_choice: {
          ...{ type: 'allowed_tools', mode: 'auto' },
          tools: [{ type: 'function', name: 'small' }],
        },
      },
      [],
    ],
    [
      'all that a choice of a tool has',
      { tools: [small], tool_choice: { type: 'function', name: 'small', more: LARGE } },
      [],
    ],
    ['items that no other vendor knows', {}, [{ type: 'novelty', text: LARGE }]],
    [
      'parts that no other vendor knows',
      {},
      [{ type: 'message', role: 'assistant', content: [{ type: 'novelty', said: LARGE }] }],
    ],
    [
      'messages without a word',
      {},
      Array.from({ length: 1_000 }, () => ({ type: 'message', role: 'assistant', content: [] })),
    ],
  ])('counts %s, which a vendor of the same protocol gets', (_what, body, items) => {
    const request = asked(body, items);
    expect(nativeBytes(request)).toBeGreaterThan(40_000);
    // The bytes of the rest are few.
    expect(request.promptTokens).toBeGreaterThan(nativeBytes(request) - 1_000);
  });
});

describe('the settings that a vendor of the same protocol gets', () => {
  it('have no unknown fields, and none that is told to have no effect', () => {
    const { native } = asked({
      tools: [small],
      text: { format: { type: 'json_object', more: LARGE }, verbosity: 'low', more: LARGE },
      prompt_cache_options: { more: LARGE },
    }).request;
    expect(native).toMatchObject({
      text: { format: { type: 'json_object' }, verbosity: 'low' },
    });
    expect(JSON.stringify(native)).not.toContain(LARGE);
  });
});
