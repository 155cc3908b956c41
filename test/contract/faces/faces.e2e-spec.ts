import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FACES } from './faces.js';
import { FacesHarness, PRICE } from './faces-harness.js';
import { SAID, VENDORS } from './vendors.js';
import { BROKEN_CALLS, GEMINI } from './wires/gemini.wire.js';
import { ANTHROPIC, REASON_THEN_USAGE, UNCOUNTED_ENDS } from './wires/anthropic.wire.js';

const PAIRS = FACES.flatMap((face) => VENDORS.map((vendor) => ({ face, vendor })));
const WHOLE = {
  text: SAID.text,
  calls: [SAID.call],
  isWhole: true,
  hasError: false,
};

let harness: FacesHarness;

beforeAll(async () => {
  harness = await FacesHarness.start();
});
afterAll(() => harness.stop());

describe.each(PAIRS)('$face.name over $vendor.name', ({ face, vendor }) => {
  const all = vendor.events.length;

  it('gives a whole answer as one object, at the price of its usage', async () => {
    harness.answersWhole(vendor);
    const { status, seen, charged } = await harness.call(face, vendor);
    expect([status, seen]).toEqual([200, WHOLE]);
    expect(charged).toBe(PRICE.of(SAID));
  });

  it('tells a failure, and charges nothing, for an object that breaks off', async () => {
    harness.breaksWhole(vendor);
    const { status, charged } = await harness.call(face, vendor);
    expect([status, charged]).toEqual([502, 0n]);
  });

  it('gives a whole answer as a stream, at the price of its usage', async () => {
    harness.streams(vendor, all);
    const { seen, charged } = await harness.stream(face, vendor);
    expect(seen).toEqual(WHOLE);
    expect(charged).toBe(PRICE.of(SAID));
  });

  for (let events = 0; events < vendor.wholeAfter; events += 1) {
    it(`tells an error and charges nothing for a stream that is cut after ${events} of ${all} events (G-24, G-103)`, async () => {
      await harness.succeeds(face, vendor);
      harness.cuts(vendor, events);
      const { status, seen, charged } = await harness.stream(face, vendor);
      expect(status === 502 || seen.hasError).toBe(true);
      expect([seen.isWhole, charged]).toEqual([false, 0n]);
    });
  }

  for (let events = vendor.wholeAfter; events <= all; events += 1) {
    it(`gives and charges the whole answer of a stream that is cut after ${events} of ${all} events (G-24)`, async () => {
      harness.cuts(vendor, events);
      const { seen, charged } = await harness.stream(face, vendor);
      expect(seen).toEqual(WHOLE);
      expect(charged).toBeGreaterThan(0n);
    });
  }

  it('gives the answer of this vendor where the others refuse, of a model that all of them run', async () => {
    for (const other of VENDORS) harness.limits(other);
    harness.answersWhole(vendor);
    const whole = await harness.call(face);
    harness.streams(vendor, all);
    const stream = await harness.stream(face);
    expect([whole.seen, stream.seen]).toEqual([WHOLE, WHOLE]);
    expect([whole.charged, stream.charged]).toEqual([PRICE.of(SAID), PRICE.of(SAID)]);
  });

  it('charges prompt and made text to a client that leaves in the middle (G-24)', async () => {
    harness.streamsForever(vendor);
    const charged = await harness.leave(face, vendor);
    expect(charged).toBeGreaterThan(0n);
    expect(charged).toBeLessThan(PRICE.of({ ...SAID, completionTokens: 100 }));
  });
});

describe.each(FACES)('$name over a vendor that sends its usage after its stop reason', (face) => {
  const before = ANTHROPIC.events.slice(0, -2);
  const [reason, ...rest] = REASON_THEN_USAGE;

  it('charges the usage to a client that has left between the two (G-24)', async () => {
    const { charged } = await harness.leaveBefore(face, ANTHROPIC, rest, [...before, reason]);
    expect(charged).toBe(PRICE.of(SAID));
  });

  it('ends the work of the vendor for a client that leaves before the reason (G-24)', async () => {
    const { charged, isSent } = await harness.leaveBefore(
      face,
      ANTHROPIC,
      [reason, ...rest],
      before,
    );
    expect(isSent).toBe(false);
    expect(charged).toBeGreaterThan(0n);
  });
});

describe.each(FACES)('$name over a vendor whose model breaks a call off', (face) => {
  it.each(BROKEN_CALLS)(
    'tells and charges the text before it, to a client that stays and one that leaves: $finishReason (G-24, G-103)',
    async ({ events }) => {
      harness.sends(GEMINI, events);
      const { seen, charged } = await harness.stream(face, GEMINI);
      expect(seen).toMatchObject({ text: SAID.text, calls: [], hasError: false });
      expect(charged).toBe(PRICE.of(SAID));
      const left = await harness.leaveBefore(face, GEMINI, events.slice(-1), events.slice(0, -1));
      expect(left.charged).toBeGreaterThan(0n);
    },
  );

  it.each(BROKEN_CALLS)(
    'tells an error, and charges nothing, where it said nothing: $finishReason (G-103)',
    async ({ events }) => {
      await harness.succeeds(face, GEMINI);
      harness.sends(GEMINI, events.slice(-1));
      const { status, seen, charged } = await harness.stream(face, GEMINI);
      expect(status === 502 || seen.hasError).toBe(true);
      expect(charged).toBe(0n);
    },
  );
});

describe.each(FACES)('$name over a vendor whose stream ends with its stop reason', (face) => {
  const last = ANTHROPIC.events.length - 1;
  const before = ANTHROPIC.events.slice(0, last - 1);

  it.each(['streams', 'cuts'] as const)(
    'charges a client that stays as much as one that leaves, where the vendor %s (G-24)',
    async (how) => {
      harness[how](ANTHROPIC, last);
      const stayed = await harness.stream(face, ANTHROPIC);
      expect([stayed.seen, stayed.charged]).toEqual([WHOLE, PRICE.of(SAID)]);
      const left = await harness.leaveBefore(face, ANTHROPIC, [], ANTHROPIC.events.slice(0, last));
      expect(left.charged).toBe(stayed.charged);
    },
  );

  it.each(UNCOUNTED_ENDS)(
    'charges the output that is counted here, and no placeholder, where the vendor ends with $what (G-23)',
    async ({ end }) => {
      harness.sends(ANTHROPIC, [...before, end]);
      const { seen, charged } = await harness.stream(face, ANTHROPIC);
      expect(seen).toEqual(WHOLE);
      const { charged: left } = await harness.leaveBefore(face, ANTHROPIC, [], [...before, end]);
      expect(charged).toBe(left);
      expect(charged).toBeGreaterThanOrEqual(PRICE.of({ promptTokens: 20, completionTokens: 8 }));
      expect(charged).toBeLessThanOrEqual(PRICE.of({ promptTokens: 20, completionTokens: 16 }));
    },
  );
});
