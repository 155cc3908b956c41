import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { askAt, TraceHarness, traceOf, UNTOLD } from '../../support/trace-harness.js';
import { until } from '../../support/until.js';

/** Far less than it would take if something waited for the collector. */
const DRAIN_MS = 15_000;

let harness: TraceHarness;
let desk: Awaited<ReturnType<TraceHarness['open']>> | undefined;
beforeAll(async () => {
  harness = await TraceHarness.start();
});
afterEach(async () => {
  harness.collector.react = undefined;
  await desk?.gateway.stop();
  desk = undefined;
});
afterAll(() => harness.stop());

const faults: Record<string, { react?: (response: ServerResponse) => void; url?: string }> = {
  'never answers': { react: () => undefined },
  'answers 500': { react: (response) => response.writeHead(500).end(UNTOLD.answer) },
  'refuses connections': { url: 'http://127.0.0.1:9' },
};

describe('a collector of traces', () => {
  it.each(Object.entries(faults))('that %s changes no answer and no drain', async (_, fault) => {
    const { collector } = harness;
    collector.react = fault.react;
    const before = collector.raw.length;
    desk = await harness.open({ OTEL_EXPORTER_OTLP_ENDPOINT: fault.url ?? collector.url });
    for (let call = 0; call < 3; call += 1) expect((await askAt(desk)).status).toBe(200);
    if (fault.react) await until(() => collector.raw.length > before);
    expect((await askAt(desk)).status).toBe(200);
    await desk.gateway.expectCleanBooks();
    const begin = performance.now();
    await desk.gateway.stop();
    desk = undefined;
    expect(performance.now() - begin).toBeLessThan(DRAIN_MS);
  });

  it('gets nothing with a share of 0, but the calls whose callers sample', async () => {
    desk = await harness.open({ OTEL_TRACES_SAMPLER_ARG: '0' });
    const answer = await askAt(desk);
    const trace = 'b'.repeat(32);
    const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
    expect((await askAt(desk, {}, { traceparent })).status).toBe(200);
    await harness.spansOf(trace, 4);
    expect(harness.of(traceOf(answer))).toEqual([]);
  });

  it('gets what waits when the process drains', async () => {
    desk = await harness.open();
    const answer = await askAt(desk);
    await desk.gateway.stop();
    desk = undefined;
    expect(harness.of(traceOf(answer))).toHaveLength(4);
  });
});
