import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json-object.js';
import { IgnoredFields } from '../../text/ignored-fields.js';
import type { TextRequest } from '../../text/text-request.js';
import type { ResponsesBody } from '../dto/responses.body.js';
import { noteUnknownOptions } from './known-options.js';
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

const wordsOf = ({ prompt }: TextRequest, isNative: boolean): number =>
  prompt(isNative).texts.join('').length;
const nativeBytes = ({ request }: TextRequest): number =>
  Buffer.byteLength(JSON.stringify(request.native));

describe('the upper bound of a prompt of responses', () => {
  it.each<[string, JsonObject]>([
    ['a property that is called param', { properties: { param: { description: LARGE } } }],
    ['what looks like an image', { default: { type: 'image', url: LARGE } }],
  ])('counts %s inside a schema, for it is text', (_what, parameters) => {
    expect(asked({ tools: [{ ...small, parameters }] }).promptTokens).toBeGreaterThan(50_000);
  });

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
    // Where no usage is reported, the same is counted for such a vendor, and for no other.
    expect(wordsOf(request, true)).toBeGreaterThan(40_000);
    expect(wordsOf(request, false)).toBeLessThan(1_000);
  });
});

describe('the settings that a vendor of the same protocol gets', () => {
  it('have no unknown fields, and none that is told to have no effect', () => {
    const { native } = asked({
      tools: [small],
      text: { format: { type: 'json_object', more: LARGE }, verbosity: 'low', more: LARGE },
      prompt_cache_options: { more: LARGE },
      tool_choice: { type: 'function', name: 'small', more: LARGE },
    }).request;
    expect(native).toMatchObject({
      tool_choice: { type: 'function', name: 'small' },
      text: { format: { type: 'json_object' }, verbosity: 'low' },
    });
    expect(JSON.stringify(native)).not.toContain(LARGE);
  });

  it('are those of the tools among which the model may choose, and of the form of a tool', () => {
    const sent = {
      ...{ type: 'allowed_tools', mode: 'auto', name: 'no field of this type' },
      tools: [{ type: 'custom', name: 'free', x: 1 }],
    };
    const format = { type: 'grammar', syntax: 'lark', definition: 'd' };
    const ignored = new IgnoredFields();
    const body = {
      tools: [{ type: 'custom', name: 'free', format: { ...format, y: 2 } }],
      tool_choice: sent,
    };
    noteUnknownOptions(body as never, ignored);
    expect(ignored.names).toEqual([
      'tools.0.format.y',
      'tool_choice.name',
      'tool_choice.tools.0.x',
    ]);
    expect(asked(body).request.native).toMatchObject({
      tools: [{ type: 'custom', name: 'free', format }],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [{ type: 'custom', name: 'free' }],
      },
    });
    expect(JSON.stringify(asked(body).request.native)).not.toMatch(/"[xy]":|no field/);
  });
});
