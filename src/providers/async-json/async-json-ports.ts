import { ProviderError } from '../http/provider-error.js';
import type { ProviderContext } from '../http/provider-context.js';
import { ProviderHttp } from '../http/provider-http.js';
import type { AttemptContext } from '../ports/attempt.js';
import type {
  ProbeAnswer,
  ProbedPorts,
  ProbePort,
  ProviderPorts,
} from '../ports/provider-ports.js';
import { AsyncJsonComposition } from './async-json-composition.adapter.js';
import { AsyncJsonImages } from './async-json-images.adapter.js';
import { AsyncJsonVideo } from './async-json-video.adapter.js';
import { AwaitedJobs } from './awaited-jobs.js';
import { MAX_VENDOR_ANSWER_BYTES } from './vendor-answers.js';
import { blamesRequest, vendorErrors } from './vendor-errors.js';
import type { VendorOperation } from './vendor-fields.js';
import { operationOf, type VendorFile } from './vendor-file.js';
import { VendorJobs } from './vendor-jobs.js';
import { VendorKey } from './vendor-key.js';
import { VendorSubmission } from './vendor-submission.js';

/** What a vendor can do that a file describes: the operation of the file. The context has the file. */
export function asyncJsonPorts(access: ProviderContext): ProbedPorts {
  const { vendor, download } = access;
  if (!vendor) throw new Error(`provider ${access.id} has no file`);
  const lowered = Object.entries(vendor.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  const headers = Object.fromEntries(lowered) as Record<string, string>;
  const http = new ProviderHttp(access, { headers, ownErrors: vendorErrors(vendor) });
  const key = new VendorKey(access, vendor.auth);
  const jobs = new VendorJobs(http, vendor, key);
  const submission = new VendorSubmission(http, vendor, key, jobs, download);
  const awaited = (operation: 'image' | 'composition') =>
    new AwaitedJobs(http, vendor, submission, jobs, operation);
  const own: Record<VendorOperation, () => ProviderPorts> = {
    video: () => ({ video: new AsyncJsonVideo(http, vendor, key, { jobs, submission }) }),
    image: () => ({ image: new AsyncJsonImages(http, key, awaited('image')) }),
    composition: () => ({
      composition: new AsyncJsonComposition(http, key, awaited('composition'), download),
    }),
  };
  return { probe: new VendorProbe(http, key, vendor), ...own[operationOf(vendor)]() };
}

/** Probes by asking for a job that does not exist: whoever says so has taken the key. */
class VendorProbe implements ProbePort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly key: VendorKey,
    private readonly file: VendorFile,
  ) {}

  async probe({ signal }: Pick<AttemptContext, 'signal'>): Promise<ProbeAnswer> {
    const noJob = '00000000-0000-0000-0000-000000000000';
    const { read, submit } = this.file;
    const path = (read.path ?? '/{id}')
      .replaceAll('{variant}', submit.variant ?? '')
      .replaceAll(/\{\w+\}/g, noJob);
    const request = { ...this.key.sent({ path }), timeout: 'poll', context: { signal } } as const;
    try {
      return await this.http.requestJson(
        { ...request, method: 'GET' },
        MAX_VENDOR_ANSWER_BYTES,
        // A bad key may be told by a good status.
        (answer, providerRequestId) =>
          blamesRequest(this.file, answer) ? undefined : { models: null, providerRequestId },
      );
    } catch (error) {
      const isAnswer =
        error instanceof ProviderError &&
        (error.kind === 'rejected' || error.kind === 'misconfigured');
      if (!isAnswer) throw error;
      return { models: null, providerRequestId: error.providerRequestId };
    }
  }
}
