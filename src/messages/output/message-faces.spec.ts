import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import { PartsEvent } from '../../providers/ports/chat.port.js';
import type { FinishReason } from '../../providers/ports/finish-reason.js';
import { UnusableAnswer } from '../../providers/ports/unusable-answer.js';
import { MessageAnswer, MessageStream } from './message-faces.js';

const HEAD = { id: 'msg_1', model: 'm', requestId: 'exec_1' };
const COUNTS = { promptTokens: 20, completionTokens: 9, cachedTokens: null, reasoningTokens: null };
const BILL = {
  usage: { ...COUNTS, isEstimated: false },
  chargedMicroUsd: 5n,
  heldMicroUsd: 9n,
};

/** An answer whose arguments of a tool break off. */
function brokenCall(reason: FinishReason): ChatPart[] {
  return [
    { type: 'tool-call', index: 0, id: 'call_1', kind: 'function', name: 'write' },
    { type: 'tool-arguments', index: 0, delta: '{"text":"a long' },
    { type: 'tool-end', index: 0 },
    { type: 'finish', reason },
  ];
}

describe('a message with a call whose arguments are no JSON', () => {
  it.each(['length', 'content_filter'] as const)('is told where it was cut: %s', (reason) => {
    const event = new PartsEvent(brokenCall(reason), null);
    const message = new MessageAnswer(HEAD).answer(event, BILL);
    expect(message).toMatchObject({
      content: [{ type: 'tool_use', id: 'call_1', name: 'write', input: {} }],
      stop_reason: reason === 'length' ? 'max_tokens' : 'refusal',
    });
  });

  it('is unusable as one object where it was not cut', () => {
    const event = new PartsEvent(brokenCall('tool_calls'), null);
    expect(() => new MessageAnswer(HEAD).answer(event, BILL)).toThrow(UnusableAnswer);
  });

  it.each(['length', 'tool_calls'] as const)(
    'ends as a stream, which the caller has by then and pays: %s',
    async (reason) => {
      const names: (string | undefined)[] = [];
      const events = {
        send: (_data: string, name?: string) => void names.push(name),
        end: () => Promise.resolve(),
      };
      const stream = new MessageStream(events, HEAD, 20);
      for (const part of brokenCall(reason)) void stream.forward(new PartsEvent([part], null));
      await stream.end(BILL);
      expect(names).toEqual([
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]);
    },
  );
});

describe("a vendor's own message", () => {
  const FIGURES = { provider: 'Vendor', cost: 0.5, upstream_model: 'x', provider_figures: {} };
  const content = [{ type: 'text', text: 'hi' }];

  it('is told without what the vendor adds to the protocol', () => {
    const native = { id: 'v', content, stop_reason: 'end_turn', usage: { cost: 0.5 }, ...FIGURES };
    const message = new MessageAnswer(HEAD).answer(new PartsEvent([], null, native), BILL);
    expect(Object.keys(message).sort()).toEqual([
      'content',
      'id',
      'model',
      'role',
      'stop_reason',
      'type',
      'usage',
    ]);
    expect(message.usage).not.toHaveProperty('cost');
  });

  it('is streamed without what the vendor adds to the protocol', async () => {
    const told: string[] = [];
    const events = {
      send: (data: string) => void told.push(data),
      end: () => Promise.resolve(),
    };
    const stream = new MessageStream(events, HEAD, 20);
    const forward = (event: object) =>
      stream.forward(new PartsEvent([], null, event as Record<string, unknown>));
    void forward({ type: 'message_start', message: { content: [], ...FIGURES }, ...FIGURES });
    void forward({ type: 'content_block_start', index: 0, content_block: content[0] });
    void forward({ type: 'content_block_stop', index: 0 });
    void forward({ type: 'vendor_bill', ...FIGURES });
    void forward({ type: 'message_delta', delta: { stop_reason: 'end_turn', ...FIGURES } });
    await stream.end(BILL);
    expect(told.map((data) => (JSON.parse(data) as { type: string }).type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_stop',
      'vendor_bill',
      'message_delta',
      'message_stop',
    ]);
    expect(told.join('')).not.toMatch(/"provider|"cost"|upstream_model/);
  });

  it('is streamed with the events that the vendor has added, as many as a caller can be sent', async () => {
    const told: JsonObject[] = [];
    const events = {
      send: (data: string, name?: string) => {
        const event = JSON.parse(data) as JsonObject;
        expect(event.type).toBe(name);
        told.push(event);
        return undefined;
      },
      end: () => Promise.resolve(),
    };
    const stream = new MessageStream(events, HEAD, 20);
    const forward = (native: JsonObject) => stream.forward(new PartsEvent([], null, native));
    void forward({ type: 'message_start', message: {} });
    void forward({ type: 'context_trimmed', model: 'vendors', edits: [{ tokens: 5 }] });
    void forward({ type: 'bad name\n', edits: [] });
    for (let sent = 0; sent < 20_000; sent += 1) void forward({ type: 'progress', sent });
    await stream.end(BILL);
    expect(told[1]).toEqual({ type: 'context_trimmed', model: 'm', edits: [{ tokens: 5 }] });
    expect(told.filter(({ type }) => type === 'progress')).toHaveLength(9_999);
    expect(told).toHaveLength(10_003);
  });
});
