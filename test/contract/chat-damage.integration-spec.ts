import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ChatCommand } from '../../src/providers/ports/chat.port.js';
import { damagedJson, picked } from '../faults/fuzz/damage.js';
import { mutated, type Random, repeatableRandom } from '../media/fuzz.js';
import { DamageDesk, expectTellable, fateOf, TIMEOUT_MS } from './damage-desk.js';
import { DAMAGED_WIRES, type DamagedWire } from './damaged-wires.js';

const SEED = 20_261_126;
const RUNS = 400;
const TEST_TIMEOUT_MS = 300_000;
const PIECE_BYTES = 64;
const TOO_MANY_CALLS = 1_025;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function damagedStream({ events, bytesOf, rarity }: DamagedWire, random: Random): Buffer {
  const wires = events.map((event) => {
    if (random(rarity) !== 0) return bytesOf([event]);
    return `event: ${String(event.type)}\ndata: ${damagedJson(event, random).toString()}\n\n`;
  });
  if (random(4) === 0) wires.splice(random(wires.length), 1 + random(3));
  if (random(4) === 0) wires.splice(random(wires.length), 0, picked(wires, random));
  const bytes = Buffer.from(wires.join(''));
  return random(4) === 0 ? mutated(bytes, bytes, random) : bytes;
}

describe.each(DAMAGED_WIRES)('damaged answers of %s', (_name, wire) => {
  const { answer, events, bytesOf, endless } = wire;
  const [command] = wire.commands as [ChatCommand];
  let desk: DamageDesk;
  beforeAll(async () => {
    desk = await DamageDesk.start(wire.portsOf, wire.upstreamProtocol);
  });
  afterAll(() => desk.stop());

  it(
    'are a whole answer that can be told, or a failure of the provider',
    async () => {
      const random = repeatableRandom(SEED);
      let wholes = 0;
      for (let run = 0; run < RUNS; run += 1) {
        const isStream = random(2) === 0;
        const body = isStream ? damagedStream(wire, random) : damagedJson(answer, random);
        const isCut = random(6) === 0;
        desk.stub.reply = (response) => {
          if (!isCut) response.end(body);
          else {
            response.writeHead(200, { 'content-length': body.length + 1 });
            response.write(body.subarray(0, random(body.length + 1)), () => response.destroy());
          }
        };
        const asked = picked(wire.commands, random);
        const fate = await fateOf(isStream ? desk.streamed(asked) : desk.whole(asked));
        if (typeof fate === 'string') continue;
        wholes += 1;
        expectTellable(fate);
      }
      expect(wholes).toBeGreaterThan(RUNS / 20);
      expect(wholes).toBeLessThan(RUNS);
    },
    TEST_TIMEOUT_MS,
  );

  it('that are cut before their reason are failures, and whole after it (G-24)', async () => {
    // Messages has its reason in an event of its own, before the last one.
    const reasonAt = events.findIndex(({ type }) => type === 'message_delta');
    const needed = reasonAt === -1 ? events.length : reasonAt + 1;
    for (let sent = 0; sent < events.length; sent += 1) {
      desk.answers(bytesOf(events.slice(0, sent)));
      const fate = await fateOf(desk.streamed(command));
      if (sent < needed) expect(fate).toBe('http_error');
      else if (typeof fate === 'string') throw new Error(fate);
      else expectTellable(fate);
    }
    desk.breaksAfter(bytesOf(events));
    expectTellable(await desk.streamed(command));
  });

  it('are read however small and slow their pieces are', async () => {
    const stream = Buffer.from(bytesOf(events));
    desk.stub.reply = async (response) => {
      for (let at = 0; at < stream.length; at += PIECE_BYTES) {
        response.write(stream.subarray(at, at + PIECE_BYTES));
        await pause(2);
      }
      response.end();
    };
    expectTellable(await desk.streamed(command));
  });

  it('end at silence, and go on while anything arrives', async () => {
    const half = Math.ceil(events.length / 2);
    const begun = bytesOf(events.slice(0, half));
    desk.stub.reply = (response) => response.write(begun);
    expect(await fateOf(desk.streamed(command))).toBe('timeout');
    desk.stub.reply = async (response) => {
      response.write(begun);
      for (let times = 0; times < 6; times += 1) {
        await pause(TIMEOUT_MS / 3);
        response.write(': still here\n\n');
      }
      response.end(bytesOf(events.slice(half)));
    };
    expectTellable(await desk.streamed(command));
  });

  it('that never end are closed where the reader leaves', async () => {
    const begun = bytesOf(endless.begin);
    const more = bytesOf([endless.piece]).repeat(20);
    const { aborted } = desk.stub;
    desk.stub.reply = (response) => {
      const write = (): void => {
        if (response.destroyed) return;
        if (response.write(more)) setImmediate(write);
        else response.once('drain', write);
      };
      response.write(begun);
      write();
    };
    const { body } = await desk.chat.stream(command, desk.context());
    const seen: unknown[] = [];
    for await (const event of body) if (seen.push(event) === 500) break;
    while (desk.stub.aborted === aborted) await pause(5);
  });

  it.each<[string, () => string]>([
    ['a whole answer of 17 MB', () => JSON.stringify(wire.saying('x'.repeat(17_000_000)))],
    ['one that nests too deep', () => `${wire.list}${'['.repeat(1_000)}${']'.repeat(1_000)}}`],
    ['one of too many values', () => `${wire.list}[${'{},'.repeat(2_600_000)}{}]}`],
    ['one of too many calls', () => JSON.stringify(wire.calling(TOO_MANY_CALLS))],
  ])('are failures: %s', async (_what, body) => {
    desk.answers(body());
    expect(await fateOf(desk.whole(wire.commands.at(-1)!))).toBe('http_error');
  });
});
