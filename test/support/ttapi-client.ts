import { setTimeout as sleep } from 'node:timers/promises';
import { SANDBOX_API_KEY } from '../../src/sandbox/http/protocol.js';
import { SandboxServer } from '../../src/sandbox/sandbox-server.js';

/** Answers of the song protocol, as far as tests read them. */
export interface TtapiAnswer {
  readonly status: string;
  readonly message: string;
  readonly data: Record<string, unknown> | null;
}

/** A track of the first family, as far as tests read it. */
export interface Music {
  readonly musicId: string;
  readonly title: string;
  readonly prompt: string;
  readonly audioUrl: string;
  readonly imageUrl: string;
  readonly videoUrl: string;
  readonly duration: string;
}

/** A clip of the second family, as far as tests read it. */
export interface FlowClip {
  readonly clip_id: string;
  readonly title: string;
  readonly audio_url: string;
  readonly duration: number;
  readonly lyrics_timing_markers: readonly { text: string; start_s: number; end_s: number }[];
}

const headers = { 'tt-api-key': SANDBOX_API_KEY, 'content-type': 'application/json' };
/** A magic input that ends a job at once. */
export const AT_ONCE = '[[sandbox:task-ms=0]]';

/** A client of a sandbox's song protocol. */
export class TtapiClient {
  constructor(readonly base: string) {}

  /** Starts a sandbox with one. */
  static async start(): Promise<{ server: SandboxServer; client: TtapiClient }> {
    const server = new SandboxServer();
    const port = await server.listen();
    return { server, client: new TtapiClient(`http://127.0.0.1:${port}/ttapi`) };
  }

  post(path: string, body: unknown): Promise<Response> {
    return fetch(`${this.base}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** The parsed answer to a submission of `suno/…` or `flowmusic/…`. */
  async ask(path: string, body: unknown): Promise<TtapiAnswer> {
    return (await (await this.post(path, body)).json()) as TtapiAnswer;
  }

  fetch(family: 'suno' | 'flowmusic', jobId: string): Promise<Response> {
    const path = family === 'suno' ? 'suno/v2/fetch' : 'flowmusic/v1/fetch';
    return fetch(`${this.base}/${path}?jobId=${jobId}`, { headers });
  }

  async stateOf(family: 'suno' | 'flowmusic', jobId: string): Promise<TtapiAnswer> {
    return (await (await this.fetch(family, jobId)).json()) as TtapiAnswer;
  }

  /** Submits and waits; gives back `data` of the finished job, or of an answer that needed none. */
  async run(path: string, body: unknown): Promise<Record<string, unknown>> {
    const submitted = await this.ask(path, body);
    if (submitted.status !== 'SUCCESS') throw new Error(`${path}: ${submitted.message}`);
    const jobId = submitted.data?.job_id;
    if (typeof jobId !== 'string') return submitted.data ?? {};
    const family = path.startsWith('suno/') ? 'suno' : 'flowmusic';
    for (;;) {
      const { status, message, data } = await this.stateOf(family, jobId);
      if (status === 'SUCCESS') return data ?? {};
      if (status === 'FAILED') throw new Error(message);
      await sleep(10);
    }
  }

  /** The tracks of a finished operation of the first family. */
  async musics(operation: string, body: unknown): Promise<readonly Music[]> {
    return (await this.run(`suno/v1/${operation}`, body)).musics as readonly Music[];
  }

  /** The clip of a finished operation of the second family. */
  async clip(operation: string, body: unknown): Promise<FlowClip> {
    const clips = (await this.run(`flowmusic/v1/${operation}`, body)).clips as readonly FlowClip[];
    if (clips.length !== 1 || clips[0] === undefined) throw new Error('not one clip');
    return clips[0];
  }

  /** A song of ten seconds to work on. */
  async song(title = 'A song'): Promise<Music> {
    const [first] = await this.musics('music', {
      custom: true,
      instrumental: false,
      mv: 'chirp-hawk',
      prompt: '[Verse]\nBoats on the quiet water\nLights along the shore',
      tags: 'folk',
      title: `${title} ${AT_ONCE}`,
      duration: 10,
    });
    if (first === undefined) throw new Error('no song');
    return first;
  }
}

/** The bytes behind a URL. Throws unless it is there. */
export async function bytesOf(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
