import { LRUCache } from 'lru-cache';
import {
  decodeSegment,
  type RouteMatch,
  type SandboxRoute,
  TWIN_HEADER,
  WireFault,
} from '../http/protocol.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import type { Job, JobBoard } from '../jobs/job-board.js';
import type { MediaShelf } from '../media/media-shelf.js';
import { type AskedJob, askedJob } from './template-values.js';
import { type ToldJob, TwinAnswers } from './twin-answers.js';
import type { TwinFile, TwinOperation, TwinSubmit } from './twin-file.js';
import { keyOfVendor } from './twin-key.js';
import { TwinMaker } from './twin-maker.js';
import { type TwinRoute, twinRoute } from './twin-route.js';

/** Below it are the URLs that the answers of a twin give. */
const OWN_PATH = '/twin/jobs';
/** Twins of all versions of all files, of which the longest unused goes first: five times what folders of vendors may hold. */
const MAX_TWINS = 1_000;
/** More jobs are not in one answer to a look-up. */
const MAX_LISTED = 100;

/** What a job is made of: the request, and the names of its files on the shelf. */
type Facts = AskedJob & { readonly files: readonly string[] };

/** What the twins of all vendors share. */
interface TwinWorkshop {
  readonly jobs: JobBoard;
  readonly shelf: MediaShelf;
  readonly maker: TwinMaker;
}

/** Plays the vendor that a file describes: it takes, tells, stops and deletes jobs as the file says, and makes real videos, images or music. */
class VendorTwin {
  private readonly answers: TwinAnswers;
  private readonly routes: readonly TwinRoute[];
  private readonly protocol: RouteMatch['protocol'];
  private readonly kind: string;
  private readonly operation: TwinOperation;

  constructor(
    private readonly file: TwinFile,
    private readonly workshop: TwinWorkshop,
  ) {
    this.answers = new TwinAnswers(file);
    this.operation = file.operation ?? 'video';
    this.kind = `${this.operation} of ${file.id}`;
    this.protocol = {
      prefix: new URL(file.base_url).pathname,
      routes: [],
      keyOf: (exchange) => keyOfVendor(file.auth, exchange),
      requestIdHeader: 'x-request-id',
      errorBody: (error) => this.answers.error(error),
    };
    this.routes = [
      ...this.ownRoutes(),
      ...[...this.jobRoutes(), ...this.submitRoutes()].sort((a, b) => b.fixed - a.fixed),
    ];
  }

  /** The handler of a request to this path, which has the query. */
  find(method: string, path: string): RouteMatch {
    const { protocol } = this;
    for (const { pattern, names, route } of this.routes) {
      const found = route.method === method ? pattern.exec(path) : null;
      if (!found) continue;
      const params = names.map((name, index) => [name, decodeSegment(found[index + 1] ?? '')]);
      return { protocol, route, params: Object.fromEntries(params) as Record<string, string> };
    }
    return { protocol, params: {} };
  }

  /** Those of the URLs that its answers give. They come first: a path of the file may also fit them. */
  private ownRoutes(): TwinRoute[] {
    const { cancel } = this.file;
    const job = `${OWN_PATH}/{id}`;
    return [
      twinRoute('GET', `${job}/file`, 'vendor_file', (exchange) => this.sendFile(exchange)),
      twinRoute('GET', `${job}/result`, 'vendor_result', (exchange) => this.tellResult(exchange)),
      twinRoute('GET', job, 'vendor_read', (exchange) => this.show(exchange)),
      ...(cancel && cancel.path === undefined
        ? [
            twinRoute(cancel.method, `${job}/cancel`, 'vendor_cancel', (asked) =>
              this.remove(asked),
            ),
          ]
        : []),
    ];
  }

  private jobRoutes(): TwinRoute[] {
    const { read, result, lookup, cancel, delete: removal } = this.file;
    const show = (exchange: SandboxExchange) => this.show(exchange);
    const tellResult = (exchange: SandboxExchange) => this.tellResult(exchange);
    const lookUp = (exchange: SandboxExchange) => this.lookUp(exchange);
    const remove = (exchange: SandboxExchange) => this.remove(exchange);
    const known: [SandboxRoute['method'], string | undefined, string, SandboxRoute['handle']][] = [
      ['GET', read.path, 'vendor_read', show],
      ['GET', result.request?.path, 'vendor_result', tellResult],
      ['GET', lookup?.path, 'vendor_lookup', lookUp],
      [cancel?.method ?? 'POST', cancel?.path, 'vendor_cancel', remove],
      [removal?.method ?? 'POST', removal?.path, 'vendor_delete', remove],
    ];
    return known.flatMap(([method, path, operation, handle]) =>
      path === undefined ? [] : [twinRoute(method, path, operation, handle)],
    );
  }

  private submitRoutes(): TwinRoute[] {
    const { submit } = this.file;
    const ways: readonly TwinSubmit[] = [...(submit.variants ?? []), { path: submit.path }];
    const pathOf = ({ path = submit.path }: TwinSubmit): string => path;
    return [...new Set(ways.map(pathOf))].map((path) => {
      const here = ways.filter((way) => pathOf(way) === path);
      return twinRoute('POST', path, 'vendor_submit', (exchange) => this.submit(exchange, here));
    });
  }

  private async submit(exchange: SandboxExchange, ways: readonly TwinSubmit[]): Promise<void> {
    const { jobs, maker } = this.workshop;
    const { body, params, requestId: id } = exchange;
    const asked = askedJob(this.file, ways, body, params.model);
    const files = maker.promised(this.operation, asked, exchange.magic, () =>
      jobs.downloadFault(id),
    );
    const facts = { ...asked, files };
    const job = jobs.accept<Facts>(exchange, { kind: this.kind, label: asked.prompt, facts });
    await exchange.json(200, this.answers.accepted(this.told(exchange, job)));
  }

  private async show(exchange: SandboxExchange): Promise<void> {
    const job = this.jobAt(exchange);
    if (job && (await this.workshop.jobs.spoilPoll(exchange, job))) return;
    // A vendor may take the reference where it takes the id.
    await this.tell(exchange, job ?? this.jobsNamed(exchange.params.id)[0]);
  }

  private async lookUp(exchange: SandboxExchange): Promise<void> {
    const found = this.jobsNamed(exchange.params.reference);
    if (this.file.lookup?.items === undefined) return this.tell(exchange, found[0]);
    const told = found.slice(0, MAX_LISTED).map((job) => this.told(exchange, job));
    await exchange.json(200, this.answers.list(told, found.length > MAX_LISTED));
  }

  private tell(exchange: SandboxExchange, job: Job<Facts> | undefined): Promise<void> {
    const [status, answer] = this.answers.job(this.told(exchange, job ?? this.missing()));
    return exchange.json(status, answer);
  }

  private async tellResult(exchange: SandboxExchange): Promise<void> {
    const job = this.jobAt(exchange) ?? this.missing();
    await exchange.json(200, this.answers.result(this.told(exchange, this.finished(job))));
  }

  private async sendFile(exchange: SandboxExchange): Promise<void> {
    const { jobs, shelf } = this.workshop;
    const job = this.jobAt(exchange) ?? this.missing();
    if (await jobs.spoilDownload(exchange, job)) return;
    const [file = ''] = this.finished(job).facts.files;
    if (job.magic.has('url')) {
      const location = shelf.urlOf(file, exchange.header('host'));
      return exchange.send(302, { location }, Buffer.alloc(0));
    }
    const { bytes, contentType } = (await shelf.get(file)) ?? this.missing();
    await exchange.send(200, { 'content-type': contentType }, bytes);
  }

  private async remove(exchange: SandboxExchange): Promise<void> {
    this.workshop.jobs.remove(this.jobAt(exchange) ?? this.missing());
    await exchange.json(200, this.answers.done());
  }

  private told(exchange: SandboxExchange, job: Job<Facts>): ToldJob {
    const { jobs, shelf } = this.workshop;
    const { files, reference, echoed, seconds, count } = job.facts;
    const state = jobs.stateOf(job);
    const url = `${this.file.base_url}${OWN_PATH}/${job.id}`;
    const isEmpty = state.phase !== 'done' || job.magic.has('no-result');
    const made = this.file.result.with_key
      ? [`${url}/file`]
      : files.map((file) => shelf.urlOf(file, exchange.header('host')));
    const isRefused = job.magic.has('refuse');
    const madeMs = job.record.createdMs;
    const quantity = this.operation === 'image' ? count : seconds;
    const told = { id: job.id, reference, echoed, madeMs, quantity, state, isRefused, url };
    return { ...told, fileUrls: isEmpty ? [] : made };
  }

  /** The job that the path names. */
  private jobAt({ params }: SandboxExchange): Job<Facts> | undefined {
    return this.workshop.jobs.find<Facts>(this.kind, params.value ?? params.id ?? '');
  }

  /** The jobs with this reference, or all, newest first. */
  private jobsNamed(reference: string | undefined): Job<Facts>[] {
    const all = this.workshop.jobs.ofKind<Facts>(this.kind);
    return reference === undefined
      ? all
      : all.filter(({ facts }) => facts.reference !== '' && facts.reference === reference);
  }

  private finished(job: Job<Facts>): Job<Facts> {
    if (this.workshop.jobs.stateOf(job).phase === 'done') return job;
    throw new WireFault({ status: 400, message: `The ${this.operation} is not ready.` });
  }

  private missing(): never {
    const code = this.file.lookup?.absent[0]?.replace(/\*$/, '');
    const message = 'The job was not found.';
    throw new WireFault({ status: 404, message, ...(code !== undefined && { code }) });
  }
}

/**
 * The twins of the vendors that the gateway has handed over, each below `/vendors/<id>`. Processes of one gateway may have different
 * files for a while, so a request says in a header of which version of the file it is; without one it is of the last.
 */
export class VendorTwins {
  private readonly workshop: TwinWorkshop;
  private readonly versions = new LRUCache<string, VendorTwin>({ max: MAX_TWINS });
  private last: ReadonlyMap<string, VendorTwin> = new Map();

  constructor(jobs: JobBoard, shelf: MediaShelf) {
    this.workshop = { jobs, shelf, maker: new TwinMaker(shelf) };
  }

  /** Plays these files too. All versions of a vendor share its jobs. */
  add(files: readonly TwinFile[]): void {
    this.last = new Map(files.map((file) => [new URL(file.base_url).pathname, this.twinOf(file)]));
  }

  /**
   * The handler of a request to a twin of this version; undefined where the URL is of no twin. Where a version could not be handed
   * over, the last one answers.
   */
  find(
    method: string,
    { pathname, search }: URL,
    version: string | undefined,
  ): RouteMatch | undefined {
    const [base = ''] = /^\/vendors\/[^/]+/.exec(pathname) ?? [];
    const twin = this.versions.get(keyOf(base, version)) ?? this.last.get(base);
    return twin?.find(method, pathname.slice(base.length) + search);
  }

  private twinOf(file: TwinFile): VendorTwin {
    const key = keyOf(new URL(file.base_url).pathname, file.headers[TWIN_HEADER]);
    const twin = this.versions.get(key) ?? new VendorTwin(file, this.workshop);
    this.versions.set(key, twin);
    return twin;
  }
}

const keyOf = (base: string, version = ''): string => `${base} ${version}`;
