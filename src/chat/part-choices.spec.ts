import { describe, expect, it } from '@jest/globals';
import { type ChatEvent, PartsEvent } from '../providers/ports/chat.port.js';
import type { ChatPart } from '../providers/ports/chat-parts.js';
import { ChunkFace } from './chunk-face.js';
import { CompletionFace } from './completion-face.js';

const OWN = { id: 'chatcmpl-1', created: 1, model: 'gen-5' };
const USAGE = {
  promptTokens: 20,
  completionTokens: 9,
  cachedTokens: 4,
  reasoningTokens: null,
  isEstimated: false,
};
const BILL = { usage: USAGE, chargedMicroUsd: 7n, heldMicroUsd: 9n };
const SEALED = { family: 'messages', value: { signature: 's' } } as const;
const PARTS: readonly ChatPart[] = [
  { type: 'reasoning', text: 'Hm' },
  { type: 'reasoning-sealed', ...SEALED },
  { type: 'text', text: 'Let me ' },
  { type: 'text', text: 'look.' },
  { type: 'tool-call', index: 0, id: 'a', kind: 'function', name: 'f', sealed: SEALED },
  { type: 'tool-arguments', index: 0, delta: '{"x"' },
  { type: 'tool-arguments', index: 0, delta: ':1}' },
  { type: 'tool-end', index: 0 },
  { type: 'tool-call', index: 1, id: 'b', kind: 'custom', name: 'g' },
  { type: 'tool-arguments', index: 1, delta: 'in' },
  { type: 'tool-end', index: 1 },
  { type: 'finish', reason: 'tool_calls' },
];

async function streamOf(events: readonly ChatEvent[], showsUsage = false) {
  const sent: string[] = [];
  const send = (data: string): undefined => void sent.push(data);
  const end = (data?: string) => Promise.resolve(void sent.push(data ?? ''));
  const face = new ChunkFace({ send, end }, OWN, showsUsage);
  for (const event of events) await face.forward(event);
  await face.end(BILL);
  return sent;
}
const chunksOf = (sent: readonly string[]) =>
  sent.slice(0, -1).map((data) => JSON.parse(data) as { readonly choices: readonly object[] });

describe('an answer in parts on the chat face', () => {
  it('is chunks, one for each event, with the role on the first', async () => {
    const sent = await streamOf(PARTS.map((part) => new PartsEvent([part], null)));
    const choices = chunksOf(sent).map(({ choices }) => choices[0]);
    const delta = (fields: object, finish_reason: string | null = null) => ({
      index: 0,
      delta: fields,
      finish_reason,
    });
    const piece = (fields: object) => delta({ tool_calls: [fields] });
    expect(choices).toEqual([
      delta({ role: 'assistant', reasoning_content: 'Hm' }),
      delta({ reasoning_details: [{ type: 'reasoning.sealed', ...SEALED }] }),
      delta({ content: 'Let me ' }),
      delta({ content: 'look.' }),
      piece({
        index: 0,
        id: 'a',
        type: 'function',
        function: { name: 'f', arguments: '' },
        extra_content: SEALED,
      }),
      piece({ index: 0, function: { arguments: '{"x"' } }),
      piece({ index: 0, function: { arguments: ':1}' } }),
      piece({ index: 1, id: 'b', type: 'custom', custom: { name: 'g' } }),
      piece({ index: 1, custom: { input: 'in' } }),
      delta({}, 'tool_calls'),
    ]);
    expect(sent.at(-1)).toBe('[DONE]');
  });

  it('shows its usage and charge in a last chunk to a client that asked', async () => {
    const sent = await streamOf([new PartsEvent(PARTS, null)], true);
    expect(chunksOf(sent).at(-1)).toMatchObject({
      ...OWN,
      choices: [],
      usage: { prompt_tokens: 20, prompt_tokens_details: { cached_tokens: 4 }, cost_microusd: 7 },
    });
  });

  it('is a whole completion', () => {
    const answer = new CompletionFace(OWN).answer(new PartsEvent(PARTS, null), BILL);
    expect(answer).toMatchObject({
      ...OWN,
      object: 'chat.completion',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Let me look.',
            reasoning_content: 'Hm',
            reasoning_details: [{ type: 'reasoning.sealed', ...SEALED }],
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
              { id: 'b', type: 'custom', custom: { name: 'g', input: 'in' } },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  });

  it('without any text is a completion whose content is null', () => {
    const answer = new CompletionFace(OWN).answer(
      new PartsEvent([{ type: 'finish', reason: 'stop' }], null),
      BILL,
    );
    expect(answer).toMatchObject({
      choices: [{ message: { role: 'assistant', content: null }, finish_reason: 'stop' }],
    });
  });
});
