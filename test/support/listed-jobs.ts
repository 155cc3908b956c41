import { mkdtempSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadVendors } from '../../src/providers/async-json/vendor-files.js';
import { startTestGateway, type TestGateway } from './gateway.js';
import { MADE_VIDEO } from './keyed-vendor.js';
import { overlay } from './overlay-file.js';
import { type SeenRequest, StubUpstream } from './stub-upstream.js';
import { VideoHarness } from './video-harness.js';

export const CREDIT_OF_LISTED = 1_000_000n;
export const PRICE_OF_LISTED = 320_000n;
const MODEL = 'acme/film-1';

/** A prediction as Replicate lists it, and the key whose account it belongs to. */
interface Prediction {
  readonly key: string;
  readonly told: { readonly id: string; readonly created_at: string; readonly input: object };
}

/** What Replicate does with the submissions of a prompt. Without a word of it: it makes one job, and the answer is lost. */
export interface ListedPlan {
  /** How many jobs it makes of one submission; 1 by default. */
  readonly made?: number;
  /** How many it makes in all. */
  readonly most?: number;
  /** It makes them in an account of which the gateway has no key. */
  readonly isElsewhere?: boolean;
  /** What its submissions are answered with in their order, before it makes anything: a status and a body. */
  readonly refusals?: readonly (readonly [status: number, body: string])[];
  /** The answer arrives. */
  readonly isAnswered?: boolean;
  /** What is different in each job. */
  readonly told?: object;
}

/** A gateway, and Replicate as its documents have it, which lists the predictions of each of its two keys. */
export class ListedJobs {
  gateway!: TestGateway;
  /** By prompt. */
  readonly plans = new Map<string, ListedPlan>();
  /** Whether the list can be read. */
  isListed = true;
  /** How often it was read. */
  listed = 0;
  /** Prompts of the submissions. */
  readonly sent: string[] = [];
  private readonly predictions: Prediction[] = [];

  private constructor(private readonly replicate: StubUpstream) {
    replicate.reply = (response, request) => {
      this.answer(response, request);
    };
  }

  static async start(): Promise<ListedJobs> {
    const listed = new ListedJobs(await StubUpstream.start());
    const file = loadVendors(undefined).get('replicate');
    const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
    const played = { ...file, base_url: listed.replicate.url };
    writeFileSync(join(folder, 'replicate.json'), JSON.stringify(played));
    const model = {
      ...{ id: 'vid-listed', operation: 'video', limits: { max_image_urls: 0 } },
      routes: [{ provider: 'replicate', upstream_model: MODEL }],
      price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: Number(PRICE_OF_LISTED) }] },
    };
    process.env.REPLICATE_API_TOKEN = 'r8_one,r8_two';
    listed.gateway = await startTestGateway({
      ...{ SANDBOX: 'off', VENDORS_DIR: folder, CATALOG_FILE: overlay({ models: [model] }) },
      ...{ EGRESS_ALLOW: '127.0.0.1', TASK_TICK_MS: '20', TASK_POLL_INTERVAL_MS: '10' },
    });
    return listed;
  }

  /** A video of this prompt, of a new account by default: each account has one of the keys. */
  async submitted(prompt: string, plan: ListedPlan = {}, of?: VideoHarness) {
    this.plans.set(prompt, plan);
    const videos = of ?? (await VideoHarness.open(this.gateway, CREDIT_OF_LISTED));
    const { id } = await videos.submitted({ model: 'vid-listed', prompt });
    return { videos, id };
  }

  /** How many submissions of a prompt it got. */
  timesSent(prompt: string): number {
    return this.sent.filter((one) => one === prompt).length;
  }

  /** The jobs of a prompt. */
  madeOf(prompt: string): number {
    return this.predictions.filter(({ told }) => (told.input as Json).prompt === prompt).length;
  }

  async stop(): Promise<void> {
    delete process.env.REPLICATE_API_TOKEN;
    await this.gateway.stop();
    await this.replicate.stop();
  }

  private answer(response: ServerResponse, { method, url, headers, body }: SeenRequest): void {
    const key = String(headers.authorization).replace('Bearer ', '');
    const json = (told: object, status = 200) =>
      response.writeHead(status).end(JSON.stringify(told));
    if (url === '/a.mp4') {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(MADE_VIDEO);
    } else if (method === 'POST') {
      const order = JSON.parse(body.toString()) as { readonly input: { readonly prompt: string } };
      const { prompt } = order.input;
      const [status, said] = this.plans.get(prompt)?.refusals?.[this.timesSent(prompt)] ?? [];
      const made = status === undefined ? this.make(key, order) : undefined;
      if (status !== undefined) {
        this.sent.push(prompt);
        response.writeHead(status).end(said);
      } else if (made) json(made, 201);
      else response.destroy();
    } else if (url !== '/predictions') {
      const id = url.slice('/predictions/'.length);
      const known = this.predictions.some((one) => one.told.id === id && one.key === key);
      if (known)
        json({ id, status: 'succeeded', output: [`${this.replicate.url}/a.mp4`], error: null });
      else json({ detail: 'Not found', status: 404 }, 404);
    } else if (this.isListed) {
      this.listed += 1;
      const own = this.predictions.filter((one) => one.key === key).toReversed();
      const next = `${this.replicate.url}/predictions?cursor=cD0yMDIy`;
      json({ previous: null, next, results: own.map(({ told }) => told) });
    } else response.writeHead(502).end('<html>502</html>');
  }

  /** The prediction that is answered, if one is. */
  private make(key: string, { input }: Json): object | undefined {
    const { prompt } = input as { prompt: string };
    const plan = this.plans.get(prompt) ?? {};
    const { made = 1, most = Infinity, isAnswered = false, told = {} } = plan;
    this.sent.push(prompt);
    const left = most - this.madeOf(prompt);
    for (let count = 0; count < Math.min(made, left); count += 1) {
      const id = `p${this.predictions.length + 1}`;
      const created = new Date().toISOString();
      const job = {
        id,
        model: MODEL,
        created_at: created,
        input: input as object,
        status: 'starting',
      };
      const owner = plan.isElsewhere ? 'another-account' : key;
      this.predictions.push({ key: owner, told: { ...job, ...told } });
    }
    return isAnswered ? this.predictions.at(-1)?.told : undefined;
  }
}

type Json = Record<string, unknown>;
