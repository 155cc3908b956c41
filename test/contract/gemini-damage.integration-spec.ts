import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { geminiPorts } from '../../src/providers/gemini/gemini-ports.js';
import { foreignCommand } from '../support/chat-command.js';
import { DamageDesk, fateOf } from './damage-desk.js';
import { eventBytes, EVENTS, said, USAGE } from './gemini-wires.js';

const COMMAND = foreignCommand(
  {
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    settings: {},
  },
  100,
);

let desk: DamageDesk;
beforeAll(async () => {
  desk = await DamageDesk.start(geminiPorts);
});
afterAll(() => desk.stop());

const streamed = () => desk.streamed(COMMAND);

describe('damaged answers of Gemini alone', () => {
  it.each<[string, object, string]>([
    ['an error', { error: { code: 503, message: 'x', status: 'UNAVAILABLE' } }, 'unavailable'],
    ['a blocked prompt', { promptFeedback: { blockReason: 'SAFETY' } }, 'rejected'],
    ['a call without a name', said({ parts: [{ functionCall: { args: {} } }] }), 'http_error'],
  ])('that have %s in the stream are failures of that kind', async (_what, event, kind) => {
    for (const before of [0, 3]) {
      desk.answers(eventBytes([...EVENTS.slice(0, before), event]));
      expect(await fateOf(streamed())).toBe(kind);
    }
  });

  it('are told to their end where a filter ended them', async () => {
    const last = said({ parts: [], finishReason: 'SAFETY', usage: USAGE });
    desk.answers(eventBytes([...EVENTS.slice(0, 3), last]));
    const events = await streamed();
    expect(events.at(-1)!.parts).toEqual([{ type: 'finish', reason: 'content_filter' }]);
  });

  it('are failures where the model wrote nothing but a call that is none', async () => {
    const end = said({ parts: [], finishReason: 'MALFORMED_FUNCTION_CALL', usage: USAGE });
    desk.answers(eventBytes([end]));
    expect(await fateOf(streamed())).toBe('http_error');
  });

  it.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL'])(
    'are whole, with the usage that is charged, where a call broke off after a text: %s (G-24)',
    async (finishReason) => {
      const end = said({ parts: [], finishReason, usage: USAGE });
      desk.answers(eventBytes([said({ parts: [{ text: 'Hi' }] }), end]));
      const events = await streamed();
      expect(events.flatMap(({ parts }) => parts)).toEqual([
        { type: 'text', text: 'Hi' },
        { type: 'finish', reason: 'stop' },
      ]);
      expect(events.at(-1)!.usage).not.toBeNull();
    },
  );

  it('say nothing after their end but the usage', async () => {
    const last = said({ parts: [{ text: 'x' }], finishReason: 'MAX_TOKENS' });
    const more = said({ parts: [{ text: 'more' }], finishReason: 'STOP', usage: USAGE });
    desk.answers(eventBytes([last, more]));
    const events = await streamed();
    expect(events.map(({ parts }) => parts)).toEqual([
      [
        { type: 'text', text: 'x' },
        { type: 'finish', reason: 'length' },
      ],
      [],
    ]);
    expect(events.at(-1)!.usage).toMatchObject({ promptTokens: 220 });
  });
});
