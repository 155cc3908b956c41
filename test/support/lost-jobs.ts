import { expect } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from './gateway.js';
import { StubUpstream } from './stub-upstream.js';
import { VideoHarness } from './video-harness.js';

export const PRICE_OF_LOST = 320_000n;
export const CREDIT_FOR_LOST = 1_000_000n;
export const LOST_FILM = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(1_000),
]);

type VendorAnswer = readonly [status: number, answer: object];
/** What the vendor may say to a look-up. */
export const LOOK_UPS = {
  FOUND: [200, { data: { id: 'job-1', own_id: '{reference}' } }],
  ANOTHER: [200, { data: { id: 'job-2', own_id: 'task_of_somebody_else' } }],
  NONE: [404, { code: 'no_such_job', message: 'No such job' }],
  BROKEN: [500, {}],
} as const satisfies Record<string, VendorAnswer>;

/** A gateway, and a vendor that answers no submission but can be asked for a job by our reference. */
export class LostJobs {
  gateway!: TestGateway;
  /** What the vendor says to look-ups, the next one first; the last answer stays. */
  lookUps: readonly VendorAnswer[] = [];
  /** What it says of the job. */
  job: object = {};
  /** How it gives the video. */
  film: (response: ServerResponse) => void = giveLostFilm;
  /** References of the jobs that the vendor was sent. */
  references: string[] = [];
  asked = 0;
  films = 0;
  /** How often it was asked about the job. */
  polls = 0;

  private constructor(private readonly vendor: StubUpstream) {
    vendor.reply = (response, { method, url, body }) => {
      if (method === 'POST') {
        this.references.push((JSON.parse(body.toString()) as { own_id: string }).own_id);
        response.destroy();
      } else if (url.startsWith('/v1/own/')) this.answer(response, url.slice('/v1/own/'.length));
      else if (url === '/v1/jobs/job-1') {
        this.polls += 1;
        response.end(JSON.stringify(this.job));
      } else {
        this.films += 1;
        this.film(response);
      }
    };
  }

  static async start(): Promise<LostJobs> {
    const lost = new LostJobs(await StubUpstream.start());
    const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
    writeFileSync(join(folder, 'acme.json'), JSON.stringify(lost.vendorFile()));
    const catalog = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
    const model = {
      ...{ id: 'vid-acme', operation: 'video', limits: { max_image_urls: 0 } },
      routes: [{ provider: 'acme', upstream_model: 'm' }],
      price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: Number(PRICE_OF_LOST) }] },
    };
    writeFileSync(catalog, JSON.stringify({ models: [model] }));
    process.env.ACME_TEST_KEY = 'a-key-of-the-vendor';
    lost.gateway = await startTestGateway({
      ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: catalog, EGRESS_ALLOW: '127.0.0.1' },
      ...{ TASK_TICK_MS: '20', TASK_POLL_INTERVAL_MS: '10' },
    });
    return lost;
  }

  /** As at the start, for the next test. */
  reset(): void {
    this.references = [];
    this.asked = 0;
    this.films = 0;
    this.polls = 0;
    this.film = giveLostFilm;
    this.job = { state: 'completed', video: `${this.vendor.url}/a.mp4` };
  }

  async submitted() {
    const videos = await VideoHarness.open(this.gateway, CREDIT_FOR_LOST);
    const { id } = await videos.submitted({ model: 'vid-acme', prompt: 'The sea' });
    const money = () => this.gateway.balance(videos.account.accountId);
    return { videos, id, money };
  }

  async stop(): Promise<void> {
    delete process.env.ACME_TEST_KEY;
    await this.gateway.stop();
    await this.vendor.stop();
  }

  private answer(response: ServerResponse, reference: string): void {
    // The job of a test before is asked for on.
    if (!this.references.includes(reference)) {
      response.writeHead(500).end();
      return;
    }
    expect(this.references).toEqual([reference]);
    const { asked, lookUps } = this;
    const [status, answer] = lookUps[Math.min(asked, lookUps.length - 1)] ?? LOOK_UPS.BROKEN;
    this.asked += 1;
    response.writeHead(status).end(JSON.stringify(answer).replace('{reference}', reference));
  }

  private vendorFile(): object {
    const body = { prompt: '{{prompt}}', own_id: '{{reference}}' };
    return {
      ...{ id: 'acme', protocol: 'async-json', key_env: 'ACME_TEST_KEY' },
      ...{ base_url: `${this.vendor.url}/v1`, auth: { in: 'bearer' } },
      submit: { path: '/jobs', body, id: 'id' },
      lookup: {
        ...{ path: '/own/{reference}', id: 'data.id', reference: 'data.own_id' },
        absent: ['no_such_job'],
      },
      read: {
        ...{ path: '/jobs/{id}', state: 'state' },
        states: { succeeded: ['completed'], failed: ['failed'] },
      },
      result: { url: ['video'] },
      errors: { code: ['code'] },
    };
  }
}

export function giveLostFilm(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'video/mp4' }).end(LOST_FILM);
}
