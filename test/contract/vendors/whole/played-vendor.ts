import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type SeenRequest, StubUpstream } from '../../../support/stub-upstream.js';
import { FAULTY_ANSWERS, type VendorFault } from './played-faults.js';
import type { JobEnd, PlayedWire, VendorAnswer, VendorWord } from './played-wire.js';

/**
 * `unsafe` refuses the content, where the documents of the vendor have words for it, and `condemned` that of a job. `result`, `file`
 * and `found` are whole; `wait`: the whole answer, once {@link PlayedVendor.goOn} is called; or these bytes, as Latin-1.
 */
export type VendorAct =
  | VendorWord
  | VendorFault
  | 'unsafe'
  | 'condemned'
  | 'result'
  | 'file'
  | 'found'
  | 'wait'
  | VendorAnswer;

/** What a vendor does with the requests for one video, in turn; the last of each list goes on. */
export interface VendorScript {
  submit: VendorAct[];
  /** Where a job is asked for by our reference. */
  lookUps: VendorAct[];
  reads: VendorAct[];
  /** Where a result is asked for in a second request. */
  results: VendorAct[];
  files: VendorAct[];
}

/** The requests for one video. */
export interface PlayedOrder {
  readonly script: VendorScript;
  readonly jobs: string[];
  readonly submissions: SeenRequest[];
  /** The requests that ended its jobs, in turn. */
  readonly ends: JobEnd[];
  reads: number;
  files: number;
}

/** A file that is recognised as a video. */
export const PLAYED_VIDEO = Buffer.concat([
  Buffer.from([0, 0, 0, 24]),
  Buffer.from('ftypisom\0\0\x02\0isommp42', 'latin1'),
  Buffer.alloc(100_000, 7),
]);
const JOB = /[0-9a-f]{8}-[0-9a-f-]{27}/;
/** Our name of a job. */
const REFERENCE = /task_[0-9a-f]{32}/;
/** How each prompt is found in the body of a submission. */
const PROMPT = /"(A film of [^"]+)"/;
/** A probe asks for this job, which no vendor has. */
const PROBED = '00000000-0000-0000-0000-000000000000';

/** A vendor, and the server of its files, as real HTTP servers. */
export class PlayedVendor {
  /** Faults of the gateway's requests. */
  readonly strays: string[] = [];
  /** Requests for files that had the key, or that lacked it. */
  readonly keyFaults: string[] = [];
  private readonly orders = new Map<string, PlayedOrder>();
  private readonly jobs = new Map<string, PlayedOrder>();
  /** The last job of each of our references. */
  private readonly references = new Map<string, string>();
  private readonly names = new Map<string, string>();
  /** The jobs in the list, as it tells them. */
  private readonly listed = new Map<string, string>();
  private readonly waiting: (() => void)[] = [];

  private constructor(
    readonly wire: PlayedWire,
    private readonly vendor: StubUpstream,
    private readonly files: StubUpstream,
  ) {
    vendor.reply = (response, request) => {
      this.answer(response, request);
    };
    files.reply = (response, request) => {
      this.sendFile(response, request);
    };
  }

  static async start(wire: PlayedWire): Promise<PlayedVendor> {
    return new PlayedVendor(wire, await StubUpstream.start(), await StubUpstream.start());
  }

  get url(): string {
    return this.vendor.url;
  }

  get filesUrl(): string {
    return this.files.url;
  }

  async stop(): Promise<void> {
    await Promise.all([this.vendor.stop(), this.files.stop()]);
  }

  /** From now on the requests for the video of this prompt are answered so. */
  expect(prompt: string, script: Partial<VendorScript>): PlayedOrder {
    const whole = {
      submit: ['accepted'],
      lookUps: ['found'],
      reads: ['waiting', 'done'],
      results: ['result'],
      files: ['file'],
    } as const;
    const lists = Object.entries({ ...whole, ...script }).map(([name, acts]) => [name, [...acts]]);
    const played = Object.fromEntries(lists) as VendorScript;
    const none = { jobs: [], submissions: [], ends: [], reads: 0, files: 0 };
    const order: PlayedOrder = { script: played, ...none };
    this.orders.set(prompt, order);
    return order;
  }

  /** Gives the answers that wait. */
  goOn(): void {
    for (const give of this.waiting.splice(0)) give();
  }

  /** No request for this video is to come any more. */
  forget(prompt: string): void {
    const order = this.orders.get(prompt);
    this.orders.delete(prompt);
    for (const job of order?.jobs ?? []) {
      this.jobs.delete(job);
      this.listed.delete(job);
    }
  }

  private answer(response: ServerResponse, request: SeenRequest): void {
    const { method, url, headers } = request;
    const { wire } = this;
    // What counts is kept with the video.
    this.vendor.seen.length = 0;
    for (const [name, form] of Object.entries(wire.headers)) {
      if (!form.test(String(headers[name]))) this.strays.push(`${name} of ${method} ${url}`);
    }
    const [job = ''] = JOB.exec(url) ?? [];
    const end = this.endOf(`${method} ${url}`, job);
    if (end) this.end(response, job, end);
    else if (method === 'POST') this.take(response, request);
    else if (method === 'GET') this.tell(response, url, job);
    else this.stray(response, `${method} ${url}`);
  }

  private endOf(request: string, job: string): JobEnd | undefined {
    const ends = Object.entries(this.wire.ends ?? {}) as [JobEnd, readonly [string, unknown]][];
    return ends.find(([, [form]]) => request === form.replaceAll('JOB', job))?.[0];
  }

  private end(response: ServerResponse, job: string, end: JobEnd): void {
    this.jobs.get(job)?.ends.push(end);
    this.say(response, this.wire.ends?.[end]?.[1] ?? [500, ''], job);
  }

  private stray(response: ServerResponse, request: string): void {
    this.strays.push(request);
    response.writeHead(404).end('{}');
  }

  private tell(response: ServerResponse, url: string, job: string): void {
    const { wire } = this;
    const order = this.jobs.get(job);
    if (order && url === wire.readUrl.replaceAll('JOB', job)) {
      order.reads += 1;
      this.act(response, next(order.script.reads), { job, whole: 'done' });
    } else if (order && url === wire.resultUrl?.replaceAll('JOB', job)) {
      this.act(response, next(order.script.results), { job, whole: 'result' });
    } else if (wire.lookUpUrl !== undefined && REFERENCE.test(url)) this.lookUp(response, url);
    else if (url === wire.list?.url) {
      const jobs = [...this.listed.values()].join(',');
      this.say(response, [200, wire.list.page.replace('JOBS', () => jobs)], '');
    } else if (url.includes(PROBED)) response.writeHead(404).end('{}');
    else this.stray(response, url);
  }

  private lookUp(response: ServerResponse, url: string): void {
    const { wire } = this;
    const [reference = ''] = REFERENCE.exec(url) ?? [];
    const job = this.references.get(reference) ?? '';
    const order = this.jobs.get(job);
    if (!order || url !== wire.lookUpUrl?.replaceAll('REFERENCE', reference)) {
      this.stray(response, url);
    } else {
      this.act(response, next(order.script.lookUps), { job, whole: 'found' });
    }
  }

  private take(response: ServerResponse, request: SeenRequest): void {
    const body = request.body.toString();
    const [, prompt = ''] = PROMPT.exec(body) ?? [];
    const order = this.orders.get(prompt);
    const [reference = ''] = REFERENCE.exec(body) ?? [];
    const { sent } = this.wire;
    const isAsSaid = body === sent.replaceAll('PROMPT', prompt).replaceAll('REFERENCE', reference);
    if (request.url !== this.wire.submitUrl || !isAsSaid)
      this.strays.push(`${request.url} ${body}`);
    if (!order) {
      response.writeHead(404).end('{}');
      return;
    }
    order.submissions.push(request);
    const job = randomUUID();
    // Whatever becomes of the answer: the vendor has the job.
    this.jobs.set(job, order);
    this.references.set(reference, job);
    this.names.set(job, reference);
    order.jobs.push(job);
    const act = next(order.script.submit);
    if (!isRefusal(act)) this.enter(job, prompt);
    this.act(response, act, { job, whole: 'accepted' });
  }

  private enter(job: string, prompt: string): void {
    const { found = '' } = this.wire;
    const made = new Date().toISOString();
    const told = found.replaceAll('PROMPT', prompt).replaceAll('MADE', made);
    this.listed.set(job, this.filled(told, job));
  }

  /** Says the word, or damages the answer that would be whole. */
  private act(
    response: ServerResponse,
    act: VendorAct,
    { job, whole }: { readonly job: string; readonly whole: VendorWord | 'result' | 'found' },
  ): void {
    const { says, refusals, result = '', found = '' } = this.wire;
    const more = { result: [200, result], found: [200, found] } as const;
    const unsafe = refusals?.submit ?? says.refused;
    const condemned = refusals?.job ?? says.failed;
    const answers: Record<string, VendorAnswer> = { ...says, ...more, unsafe, condemned };
    const wholeAnswer = answers[whole] ?? [200, ''];
    const answer = typeof act === 'string' ? answers[act] : act;
    if (answer) this.say(response, answer, job);
    else if (act === 'wait') {
      this.waiting.push(() => {
        this.say(response, wholeAnswer, job);
      });
    } else {
      const [status, text] = wholeAnswer;
      FAULTY_ANSWERS[act as VendorFault](response, status, Buffer.from(this.filled(text, job)));
    }
  }

  private say(response: ServerResponse, [status, text]: VendorAnswer, job: string): void {
    const bytes = Buffer.from(this.filled(text, job), 'latin1');
    response.writeHead(status, { 'content-type': 'application/json' }).end(bytes);
  }

  private filled(text: string, job: string): string {
    return text
      .replaceAll('JOB', job)
      .replaceAll('REFERENCE', this.names.get(job) ?? '')
      .replaceAll('BASE', this.url)
      .replaceAll('FILE', `${this.filesUrl}/${job}.mp4`);
  }

  private sendFile(response: ServerResponse, { url, headers }: SeenRequest): void {
    this.files.seen.length = 0;
    const isKeyed = JSON.stringify(headers).includes(this.wire.key);
    if (isKeyed !== (this.wire.hasKeyedFile ?? false)) this.keyFaults.push(url);
    const order = this.jobs.get(url.slice(1, -'.mp4'.length));
    if (!order) this.strays.push(url);
    else order.files += 1;
    const act = order ? next(order.script.files) : 'gone';
    const give = () => response.writeHead(200, { 'content-type': 'video/mp4' }).end(PLAYED_VIDEO);
    if (act === 'file') give();
    else if (act === 'wait') this.waiting.push(give);
    else if (typeof act !== 'string') response.writeHead(act[0]).end(Buffer.from(act[1], 'latin1'));
    else FAULTY_ANSWERS[act as VendorFault](response, 200, PLAYED_VIDEO);
  }
}

/** After it the vendor lists no job of the submission. */
const isRefusal = (act: VendorAct): boolean =>
  typeof act === 'string' ? ['refused', 'unsafe', 'busy'].includes(act) : act[0] >= 400;

/** The last one stays. */
function next(acts: VendorAct[]): VendorAct {
  const [act = 'error'] = acts;
  if (acts.length > 1) acts.shift();
  return act;
}
