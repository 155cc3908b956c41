import { mkdtempSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import type { Face, Understood } from './faces.js';
import { type Vendor, VENDORS } from './vendors.js';

const INPUT_PER_MILLION = 3_000_000;
const OUTPUT_PER_MILLION = 15_000_000;
const KEY = 'FACES_KEY';
/** In which the gateway reads what has arrived, or sees that its client has left. */
const READ_MS = 200;

/** The prices of every model of the matrix. */
export const PRICE = {
  of: ({
    promptTokens,
    completionTokens,
  }: Readonly<Record<'promptTokens' | 'completionTokens', number>>) =>
    BigInt(
      Math.ceil(
        (promptTokens * INPUT_PER_MILLION + completionTokens * OUTPUT_PER_MILLION) / 1_000_000,
      ),
    ),
};

/** How a call ended. */
interface Ended {
  readonly status: number;
  readonly seen: Understood;
  readonly charged: bigint;
}

/** A gateway whose models are each at one vendor that the test plays. */
export class FacesHarness {
  private constructor(
    private readonly gateway: TestGateway,
    private readonly upstreams: ReadonlyMap<Vendor, StubUpstream>,
  ) {}

  /** Starts one; call {@link stop} in `afterAll`. */
  static async start(): Promise<FacesHarness> {
    const upstreams = new Map<Vendor, StubUpstream>();
    for (const vendor of VENDORS) upstreams.set(vendor, await StubUpstream.start());
    const file = join(mkdtempSync(join(tmpdir(), 'shim-faces-')), 'catalog.json');
    process.env[KEY] = 'vendor-key-0123456789';
    writeFileSync(file, JSON.stringify(overlay(upstreams)));
    return new FacesHarness(await startTestGateway({ CATALOG_FILE: file }), upstreams);
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
    await Promise.all([...this.upstreams.values()].map((upstream) => upstream.stop()));
  }

  answersWhole(vendor: Vendor): void {
    this.reply(vendor, (response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(vendor.whole));
    });
  }

  /** Calls that succeed, so that the failures of the matrix are less than half of the calls and do not close the route. */
  async succeeds(face: Face, vendor: Vendor): Promise<void> {
    this.answersWhole(vendor);
    await Promise.all([this.call(face, vendor), this.call(face, vendor)]);
  }

  breaksWhole(vendor: Vendor): void {
    this.reply(vendor, async (response) => {
      response.setHeader('content-type', 'application/json');
      response.write(JSON.stringify(vendor.whole).slice(0, 80));
      await sleep(5);
      response.destroy();
    });
  }

  /** Refuses before the first byte. */
  limits(vendor: Vendor): void {
    this.reply(vendor, (response) => response.writeHead(429).end());
  }

  /** The whole stream, then the end of the body. */
  streams(vendor: Vendor, events: number): void {
    this.sends(vendor, vendor.events.slice(0, events));
  }

  /** These events, then the end of the body. */
  sends(vendor: Vendor, events: readonly string[]): void {
    this.reply(vendor, async (response) => {
      await write(response, events);
      response.end();
    });
  }

  /** So many events, then the connection breaks. */
  cuts(vendor: Vendor, events: number): void {
    this.reply(vendor, async (response) => {
      await write(response, vendor.events.slice(0, events));
      response.destroy();
    });
  }

  /** All but the end, then silence. */
  streamsForever(vendor: Vendor): void {
    this.reply(vendor, (response) =>
      write(response, vendor.events.slice(0, vendor.wholeAfter - 1)),
    );
  }

  /**
   * Leaves once the vendor has sent all until the given events, after which it sends the rest. Resolves with the charge and with
   * whether the vendor could send all of it.
   */
  async leaveBefore(face: Face, vendor: Vendor, rest: readonly string[], until: readonly string[]) {
    let isSent = false;
    const gone = new AbortController();
    const reached = new AbortController();
    this.reply(vendor, async (response) => {
      await write(response, until);
      // The gateway reads it before the client leaves.
      await sleep(READ_MS);
      reached.abort();
      if (!gone.signal.aborted) await once(gone.signal, 'abort');
      await sleep(READ_MS);
      isSent = !response.destroyed;
      await write(response, rest);
      response.end();
    });
    const charged = await this.leave(face, vendor, async (leave) => {
      if (!reached.signal.aborted) await once(reached.signal, 'abort');
      leave();
      gone.abort();
    });
    return { charged, isSent };
  }

  /** Without a vendor the model of all of them is called. */
  async call(face: Face, vendor?: Vendor): Promise<Ended> {
    const { answer, account } = await this.post(face, false, vendor);
    const json: unknown = await answer.json();
    return { status: answer.status, seen: face.readJson(json), charged: await this.paid(account) };
  }

  async stream(face: Face, vendor?: Vendor): Promise<Ended> {
    const { answer, account } = await this.post(face, true, vendor);
    const text = await answer.text();
    const isStream = answer.headers.get('content-type')?.includes('event-stream') ?? false;
    const seen = isStream ? face.readStream(text) : UNSEEN;
    return { status: answer.status, seen, charged: await this.paid(account) };
  }

  /** Leaves after the first event with text has arrived. Resolves with the charge. */
  async leave(
    face: Face,
    vendor: Vendor,
    when = (leave: () => void): Promise<void> => {
      leave();
      return Promise.resolve();
    },
  ): Promise<bigint> {
    const account = await this.gateway.account();
    const call = request(this.gateway.url + face.path, {
      method: 'POST',
      headers: this.headersOf(face, account),
      agent: false,
    });
    call.end(JSON.stringify(face.body(modelOf(vendor), true)));
    const [answer] = (await once(call, 'response')) as [NodeJS.ReadableStream];
    answer.on('error', () => undefined);
    for await (const bytes of answer) {
      if (!String(bytes).includes('look.')) continue;
      // The loop leaves by itself, so what comes before waits in it.
      await when(() => call.destroy());
      break;
    }
    return this.paid(account);
  }

  /** What the account has paid, after nothing is held any more. */
  private async paid(account: TestAccount): Promise<bigint> {
    for (;;) {
      const { held } = await this.gateway.balance(account.accountId);
      if (held === 0n) break;
      await sleep(10);
    }
    const [row] = await this.gateway.dataSource.query<{ charged: string }[]>(
      'SELECT coalesce(sum(charged), 0) AS charged FROM execution WHERE account_id = $1',
      [account.accountId],
    );
    return BigInt(row!.charged);
  }

  private async post(face: Face, isStream: boolean, vendor?: Vendor) {
    const account = await this.gateway.account();
    const answer = await fetch(this.gateway.url + face.path, {
      method: 'POST',
      headers: this.headersOf(face, account),
      body: JSON.stringify(face.body(modelOf(vendor), isStream)),
    });
    return { answer, account };
  }

  private headersOf(face: Face, account: TestAccount): Record<string, string> {
    return { 'content-type': 'application/json', ...account.headers, ...face.headers };
  }

  private reply(vendor: Vendor, reply: StubUpstream['reply']): void {
    this.upstreams.get(vendor)!.reply = reply;
  }
}

const UNSEEN: Understood = { text: '', calls: [], isWhole: false, hasError: false };

async function write(
  response: Parameters<StubUpstream['reply']>[0],
  events: readonly string[],
): Promise<void> {
  if (!response.headersSent) response.setHeader('content-type', 'text/event-stream');
  response.flushHeaders();
  for (const event of events) {
    response.write(event);
    await sleep(2);
  }
}

function modelOf(vendor?: Vendor): string {
  return `faces-${(vendor?.name ?? 'all').replaceAll(' ', '-')}`;
}

function overlay(upstreams: ReadonlyMap<Vendor, StubUpstream>): object {
  const vendors = [...upstreams].map(([vendor, { url }]) => ({ vendor, url, id: modelOf(vendor) }));
  return {
    providers: vendors.map(({ vendor: { protocol, basePath }, url, id }) => ({
      id,
      protocol,
      base_url: url + basePath,
      api_key_env: KEY,
    })),
    models: [...vendors.map((one) => [one]), vendors].map((ones, index) => ({
      id: index < vendors.length ? ones[0]!.id : modelOf(),
      operation: 'chat',
      routes: ones.map(({ id, vendor: { upstreamProtocol } }) => ({
        provider: id,
        upstream_model: 'v',
        upstream_protocol: upstreamProtocol,
      })),
      price: {
        unit: 'token',
        input_micro_usd_per_million: INPUT_PER_MILLION,
        output_micro_usd_per_million: OUTPUT_PER_MILLION,
      },
      limits: { max_output_tokens: 8_000 },
    })),
  };
}
