import { expect } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from './gateway-accounts.js';
import { type Answer, postJson, send } from './http-answer.js';
import type { GatewayFromOutside } from './shared-gateway.js';

/** A body that every gateway with the sandbox takes. */
export const VIDEO = {
  model: 'vid-motion',
  prompt: 'The sea [[sandbox:task-ms=1]]',
  seconds: '5',
} as const;
/** Its price in micro-USD. */
export const VIDEO_PRICE = 250_000n;

/** A video as the endpoints answer it. */
export interface Video {
  readonly id: string;
  readonly object: string;
  readonly model: string;
  readonly status: string;
  readonly progress: number | null;
  readonly seconds: string;
  readonly size?: string;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly expires_at: number | null;
  readonly error: { code: string; message: string } | null;
}

/** Submits and reads videos of one account. */
export class VideoHarness {
  constructor(
    readonly gateway: GatewayFromOutside,
    readonly account: TestAccount,
  ) {}

  /** One on a fresh account. */
  static async open(gateway: GatewayFromOutside, credit?: bigint): Promise<VideoHarness> {
    return new VideoHarness(gateway, await gateway.account(credit));
  }

  /** POST /v1/videos with {@link VIDEO} and these fields. */
  submit(fields: object = {}, headers: Record<string, string> = {}): Promise<Answer> {
    const sent = { ...this.account.headers, ...headers };
    return postJson(`${this.gateway.url}/v1/videos`, sent, { ...VIDEO, ...fields });
  }

  /** A submission that is accepted. */
  async submitted(fields: object = {}, headers: Record<string, string> = {}): Promise<Video> {
    const answer = await this.submit(fields, headers);
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
    return answer.json as Video;
  }

  /** GET below /v1, such as `videos/ID`. */
  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return send(`${this.gateway.url}/v1/${path}`, {
      headers: { ...this.account.headers, ...headers },
    });
  }

  async read(id: string, headers: Record<string, string> = {}): Promise<Video> {
    const answer = await this.get(`videos/${id}`, headers);
    expect(answer.status).toBe(200);
    return answer.json as Video;
  }

  /** The video once it is completed or failed. */
  async ended(id: string): Promise<Video> {
    for (;;) {
      const video = await this.read(id, { prefer: 'wait=30' });
      if (video.status === 'completed' || video.status === 'failed') return video;
    }
  }

  /** Resolves once it is unknown what the provider did with the video. */
  async unknown(id: string): Promise<void> {
    const state = `SELECT status FROM task WHERE id = $1::uuid AND status = 'reconciliation_required'`;
    const uuid = id.slice('task_'.length);
    while ((await this.gateway.dataSource.query<object[]>(state, [uuid])).length === 0) {
      await sleep(20);
    }
  }

  /** A submission that is accepted, and the ended video. */
  async made(fields: object = {}): Promise<Video> {
    return this.ended((await this.submitted(fields)).id);
  }

  content(id: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.get(`videos/${id}/content`, headers);
  }

  balance(): ReturnType<GatewayFromOutside['balance']> {
    return this.gateway.balance(this.account.accountId);
  }

  /** Moves all times of a video into the past. */
  async age(id: string, days: number): Promise<void> {
    const uuid = id.slice('task_'.length);
    const { dataSource } = this.gateway;
    const past = `- make_interval(days => $2)`;
    await dataSource.query(
      `UPDATE task SET created_at = created_at ${past}, completed_at = completed_at ${past} WHERE id = $1::uuid`,
      [uuid, days],
    );
  }
}

/** Settings under which tasks move as fast as they can. */
export const BRISK: NodeJS.ProcessEnv = {
  TASK_TICK_MS: '50',
  TASK_POLL_INTERVAL_MS: '50',
};
