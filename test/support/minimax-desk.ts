import type { ServerResponse } from 'node:http';
import { mp3File } from '../media/mp3-file.js';
import { AdminHarness } from './admin-harness.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { type Answer, send } from './http-answer.js';
import { overlay } from './overlay-file.js';
import { StubUpstream } from './stub-upstream.js';
import { until } from './until.js';

/** What an account has, and what a song is sold for and costs, in micro-USD. */
export const SONG_CREDIT = 1_000_000_000n;
export const SONG_PRICE = '200000';
export const SONG_COST = '150000';
export const SONG_MODEL = 'aud-song';
export const SONG_PATH = '/v1/audio/music';
/** What the record of a song has that was made and lost. */
export const LOST_SONG = {
  charged_microusd: null,
  cost_microusd: SONG_COST,
  uncharged: { unit: 'request', quantity: 1 },
};
/** In no answer and no record: the URL of a song opens it. */
export const SECRET_OF_URL = /sIgNaTuRe|songs\//;

const catalogFor = (minimax: string) =>
  overlay({
    models: [
      {
        id: SONG_MODEL,
        operation: 'composition',
        routes: [
          {
            provider: 'minimax',
            upstream_model: 'music-2.6',
            cost: { unit: 'request', micro_usd: Number(SONG_COST) },
          },
        ],
        price: { unit: 'request', micro_usd: Number(SONG_PRICE) },
      },
    ],
    providers: [{ id: 'minimax', protocol: 'minimax', base_url: minimax, api_key_env: '' }],
  });

/** A gateway that sells songs of a played MiniMax, whose files lie at another origin. */
export class MiniMaxDesk {
  account!: TestAccount;

  private constructor(
    readonly minimax: StubUpstream,
    readonly files: StubUpstream,
    readonly gateway: TestGateway,
    readonly admin: AdminHarness,
    /** A song of two seconds. */
    readonly mp3: Buffer,
  ) {}

  static async open(): Promise<MiniMaxDesk> {
    const [minimax, files] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
    const gateway = await startTestGateway({
      CATALOG_FILE: catalogFor(minimax.url),
      EGRESS_ALLOW: new URL(files.url).host,
    });
    const mp3 = await mp3File(2, { rateHz: 44_100, kbps: 128 });
    return new MiniMaxDesk(minimax, files, gateway, await AdminHarness.start(gateway), mp3);
  }

  async close(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.admin.stop();
    await Promise.all([this.minimax.stop(), this.files.stop()]);
  }

  /** A new account; the vendor makes songs, and has their files. */
  async clear(): Promise<void> {
    this.account = await this.gateway.account(SONG_CREDIT);
    for (const stub of [this.minimax, this.files]) stub.seen.length = 0;
    this.minimax.reply = (response) => response.end(this.madeAt(this.files.url));
    this.files.reply = (response) => response.end(this.mp3);
  }

  /** The vendor's answer, with the URL of the song at an origin. */
  madeAt(origin: string): string {
    const data = { audio: `${origin}/songs/a.mp3?Signature=sIgNaTuRe`, status: 2 };
    const extra = { music_duration: 2_000, music_sample_rate: 44_100, music_channel: 2 };
    const base = { status_code: 0, status_msg: 'success' };
    return JSON.stringify({ data, trace_id: '04ede0ab', extra_info: extra, base_resp: base });
  }

  /** Answers with the head of a song of this length, and with its first bytes. */
  begin(response: ServerResponse, length = this.mp3.length): void {
    response.writeHead(200, { 'content-length': length }).write(this.mp3.subarray(0, 1_000));
  }

  compose(fields: object = {}, headers: object = {}, signal?: AbortSignal): Promise<Answer> {
    return send(this.gateway.url + SONG_PATH, {
      ...this.request(fields, headers),
      ...(signal && { signal }),
    });
  }

  /** An answer whose body is not read yet. */
  begun(): Promise<Response> {
    return fetch(this.gateway.url + SONG_PATH, this.request());
  }

  get(path: string): Promise<Answer> {
    return send(this.gateway.url + path, { headers: this.account.headers });
  }

  balance() {
    return this.gateway.balance(this.account.accountId);
  }

  /** The operator's record of the account's last call, once that has ended. */
  async lastRecord(): Promise<Record<string, unknown>> {
    const id = this.account.accountId.replaceAll('-', '');
    let record: Record<string, unknown> | undefined;
    await until(async () => {
      [record] = (await this.admin.list(`/executions?account_id=acct_${id}&limit=1`)).data;
      return record !== undefined && record.status !== 'running';
    });
    const answer = await this.admin.get(`/executions/${String(record?.id)}`);
    return answer.json as Record<string, unknown>;
  }

  private request(fields: object = {}, headers: object = {}) {
    return {
      method: 'POST',
      headers: { ...this.account.headers, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: SONG_MODEL, prompt: 'A calm piano', ...fields }),
    };
  }
}
