import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { anthropicPorts } from '../../src/providers/anthropic/anthropic-ports.js';
import { MESSAGE_EVENTS, neutral, wireEvent } from './anthropic-wires.js';
import { DamageDesk, expectTellable, fateOf } from './damage-desk.js';

let desk: DamageDesk;
beforeAll(async () => {
  desk = await DamageDesk.start(anthropicPorts);
});
afterAll(() => desk.stop());

const bytesOf = (events: readonly { readonly type: string }[]) => events.map(wireEvent).join('');

describe('damaged answers of Messages alone', () => {
  it('keep no more thoughts in memory than a whole answer may have', async () => {
    const thought = { type: 'thinking_delta', thinking: 'x'.repeat(1_000_000) };
    const delta = wireEvent({ type: 'content_block_delta', index: 0, delta: thought } as {
      type: string;
    });
    desk.answers(bytesOf(MESSAGE_EVENTS.slice(0, 2)) + delta.repeat(18));
    expect(await fateOf(desk.streamed(neutral()))).toBe('http_error');
  });

  it.each(['before the end of its call', 'without the end of its call'])(
    'that tell their reason %s end the call first',
    async (where) => {
      const end = { type: 'content_block_stop', index: 4 };
      const isEnd = ({ type, index }: (typeof MESSAGE_EVENTS)[number] & { index?: number }) =>
        type === end.type && index === end.index;
      const others = MESSAGE_EVENTS.filter((event) => !isEnd(event));
      const late = where.startsWith('before') ? [end] : [];
      desk.answers(bytesOf([...others.slice(0, -1), ...late, others.at(-1)!]));
      const events = await desk.streamed(neutral());
      expectTellable(events);
      expect(events.at(-1)!.parts.at(-1)).toEqual({ type: 'finish', reason: 'tool_calls' });
    },
  );
});
