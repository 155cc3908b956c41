import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import { SystemClock } from '../../../src/common/time/clock.js';
import { BoundedDownload } from '../../../src/platform/http-client/bounded-download.js';
import { EgressRules } from '../../../src/platform/http-client/egress-rules.js';
import { SsrfSafeDialer } from '../../../src/platform/http-client/ssrf-safe-dialer.js';
import { asyncJsonPorts } from '../../../src/providers/async-json/async-json-ports.js';
import { vendorFaults } from '../../../src/providers/async-json/vendor-faults.js';
import type { VendorFile } from '../../../src/providers/async-json/vendor-file.js';
import { HttpTransport } from '../../../src/providers/http/http-transport.js';
import type { VideoCommand, VideoPort } from '../../../src/providers/ports/job.port.js';
import type { ProbedPorts } from '../../../src/providers/ports/provider-ports.js';
import { type SeenRequest, StubUpstream } from '../../support/stub-upstream.js';

/** The key of the vendor, in two parts. */
export const VENDOR_KEY = 'access-1:secret-of-a-vendor';
export const SEA: VideoCommand = { prompt: 'The sea', seconds: '5' };
export const CONTEXT = { upstreamModel: 'acme/ray-2', signal: new AbortController().signal };

/** When a job that is looked for can have been made. */
export const MADE = {
  fromMs: Date.parse('2026-11-29T10:00:00Z'),
  toMs: Date.parse('2026-11-29T10:03:00Z'),
};

/** A vendor, and another server that must not get its key; both are new for each test. */
export let vendor: StubUpstream;
export let other: StubUpstream;
let transport: HttpTransport;

beforeAll(() => {
  transport = new HttpTransport(5_000);
});
beforeEach(async () => {
  vendor = await StubUpstream.start();
  other = await StubUpstream.start();
});
afterEach(async () => {
  await vendor.stop();
  await other.stop();
});
afterAll(() => transport.close());

/** The adapter of videos of a vendor with Luma's shape, and these parts changed. */
export function vendorPort(parts: Partial<VendorFile> = {}, key = VENDOR_KEY): VideoPort {
  const { video } = vendorPorts(parts, key);
  if (!video) throw new Error('no port');
  return video;
}

/** Its adapters. */
export function vendorPorts(parts: Partial<VendorFile> = {}, key = VENDOR_KEY): ProbedPorts {
  const file: VendorFile = {
    id: 'acme',
    protocol: 'async-json',
    key_env: 'ACME_KEY',
    base_url: `${vendor.url}/v1`,
    auth: { in: 'bearer' },
    submit: {
      path: '/generations/{model}',
      body: { model: '{{model}}', prompt: '{{prompt}}', duration: '{{seconds}}s' },
      id: 'id',
    },
    read: {
      path: '/generations/{id}',
      state: 'state',
      states: {
        queued: ['queued'],
        processing: ['dreaming'],
        succeeded: ['completed'],
        failed: ['failed'],
      },
      failure_message: ['failure_reason'],
    },
    result: { url: ['assets.video'] },
    ...parts,
  };
  expect(vendorFaults(file)).toEqual([]);
  const rules = EgressRules.parse('127.0.0.1');
  const download = new BoundedDownload(new SsrfSafeDialer({ rules }), { rules });
  return asyncJsonPorts({
    id: 'acme',
    baseUrl: file.base_url,
    apiKey: key,
    transport,
    clock: new SystemClock(),
    vendor: file,
    download,
  });
}

/** The vendor answers this to everything. */
export const vendorAnswers = (json: object, status = 200): void => {
  vendor.reply = (response) => response.writeHead(status).end(JSON.stringify(json));
};
export const sentBody = ({ body }: SeenRequest): unknown => JSON.parse(body.toString());
