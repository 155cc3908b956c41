import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { ChatRelay } from './chat-relay.js';
import { RelayPace } from './relay-pace.js';

const HEAD = { id: 'c', created: 1, model: 'm' };
const STREAMS = 50;
const EVENTS = 4;

/** Streams whose events have all arrived, and the number of events of every turn of the event loop. */
async function relayed(content: string): Promise<{ sent: string[][]; ofTurns: number[] }> {
  const pace = new RelayPace();
  const sent: string[][] = Array.from({ length: STREAMS }, () => []);
  const ofTurns: number[] = [];
  let ofTurn = 0;
  const runs = sent.map((events) => {
    const send = (data: string): undefined => {
      ofTurn += 1;
      events.push(data);
    };
    const chunks = Array.from({ length: EVENTS }, (_, index) => ({
      chunk: { choices: [{ index, delta: { content } }] },
      usage: null,
    }));
    return new ChatRelay({ send }, pace, HEAD, false).run(Readable.from(chunks));
  });
  const watch = { isOver: false };
  const over = Promise.all(runs).finally(() => (watch.isOver = true));
  while (!watch.isOver) {
    await nextTurn();
    ofTurns.push(ofTurn);
    ofTurn = 0;
  }
  await over;
  return { sent, ofTurns };
}

it('large events of many streams go through a few per turn of the event loop, in order', async () => {
  const { sent, ofTurns } = await relayed('a'.repeat(20_000));
  const indexes = sent.map((events) =>
    events.map((data) => (JSON.parse(data) as { choices: { index: number }[] }).choices[0]?.index),
  );
  expect(indexes).toEqual(Array.from({ length: STREAMS }, () => [0, 1, 2, 3]));
  // What waits goes on after the look of one turn or before it.
  expect(Math.max(...ofTurns)).toBeLessThanOrEqual(4);
});

it('small events wait for no turn', async () => {
  const { sent, ofTurns } = await relayed('a');
  expect(sent.flat()).toHaveLength(STREAMS * EVENTS);
  expect(Math.max(...ofTurns)).toBeGreaterThan(4);
});
