import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { isFailureWord, isSuccessWord, jobFailure, unfinishedJob } from '../http/job-state.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { ProviderError } from '../http/provider-error.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { FailedJob } from '../ports/job.port.js';
import type {
  SongCommand,
  SongExpectation,
  SongPort,
  SongReport,
  SongStep,
  SongSubmission,
} from '../ports/song.port.js';
import { readResponse } from './ttapi-response-readers.js';
import type { TtapiEndpoint, TtapiEndpoints, TtapiStep } from './ttapi-endpoints.js';
import { nextSongStep, requestBody, stepBody } from './ttapi-request.js';
import { idOf } from './ttapi-values.js';

/** The notes of a long transcription are the largest response. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/**
 * Songs over the wire protocol of TTAPI, both families: responses are `{status, message, data}`, `data` contains a job
 * id, and jobs are polled with `?jobId=`. A response that contains the result and no job id is final.
 */
export class TtapiSong implements SongPort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly endpoints: TtapiEndpoints,
    private readonly provider: string,
  ) {}

  songStepOf(
    command: SongCommand,
    memory: JsonObject,
    context: AttemptContext,
  ): SongStep | undefined {
    const endpoint = this.endpointOf(context);
    const step = nextSongStep(endpoint, command, memory);
    return step && { path: step.path, body: stepBody(endpoint, step, command) };
  }

  submitSong(
    command: SongCommand,
    memory: JsonObject,
    context: AttemptContext,
  ): Promise<SongSubmission> {
    const endpoint = this.endpointOf(context);
    const step = nextSongStep(endpoint, command, memory);
    return step
      ? this.take(step, stepBody(endpoint, step, command), memory, context)
      : this.submit(endpoint, command, memory, context);
  }

  readSong(jobId: string, expected: SongExpectation, context: AttemptContext): Promise<SongReport> {
    const endpoint = this.endpointOf(context);
    return this.http.requestJson(
      {
        method: 'GET',
        path: `${endpoint.fetchPath}?jobId=${encodeURIComponent(jobId)}`,
        timeout: 'poll',
        context,
      },
      MAX_RESPONSE_BYTES,
      (json, requestId) => reportOf(endpoint, expected, json, requestId),
    );
  }

  private submit(
    endpoint: TtapiEndpoint,
    command: SongCommand,
    memory: JsonObject,
    context: AttemptContext,
  ): Promise<SongSubmission> {
    return this.http.requestJson<SongSubmission>(
      {
        method: 'POST',
        path: endpoint.path,
        body: jsonBody(requestBody(endpoint, command, memory)),
        timeout: endpoint.isLong ? 'longSubmit' : 'submit',
        context,
      },
      MAX_RESPONSE_BYTES,
      (json, requestId) => {
        if (isFailureWord(json.status))
          return { state: 'failed', failure: jobFailure(json, requestId) };
        const data = dataOf(json);
        const jobId = idOf(data, 'job_id', 'jobId');
        if (jobId !== undefined) return { state: 'accepted', jobId };
        const result = readResponse(endpoint.reader, data, command.fields);
        if (result === 'not_generated') return notGenerated(requestId);
        return result && { state: 'done', result };
      },
    );
  }

  private take(
    step: TtapiStep,
    body: JsonObject,
    memory: JsonObject,
    context: AttemptContext,
  ): Promise<SongSubmission> {
    return this.http.requestJson<SongSubmission>(
      {
        method: 'POST',
        path: step.path,
        body: jsonBody(body),
        timeout: 'longSubmit',
        context,
      },
      MAX_RESPONSE_BYTES,
      (json, requestId) => {
        if (isFailureWord(json.status))
          return { state: 'failed', failure: jobFailure(json, requestId) };
        const kept = idOf(dataOf(json), step.keeps);
        return kept === undefined
          ? undefined
          : { state: 'step', stepState: { ...memory, [step.keeps]: kept } };
      },
    );
  }

  /** Throws ProviderError `misconfigured`, never sent, for a name that is not in the table. */
  private endpointOf({ upstreamModel }: AttemptContext): TtapiEndpoint {
    const endpoint = Object.hasOwn(this.endpoints, upstreamModel)
      ? this.endpoints[upstreamModel]
      : undefined;
    if (endpoint) return endpoint;
    throw new ProviderError('misconfigured', {
      provider: this.provider,
      sent: false,
      upstreamCode: 'no_such_endpoint',
    });
  }
}

function reportOf(
  endpoint: TtapiEndpoint,
  expected: SongExpectation,
  json: JsonObject,
  requestId: string | null,
): SongReport | undefined {
  if (typeof json.status !== 'string') return undefined;
  const data = dataOf(json);
  const progress = progressOf(data);
  if (!isSuccessWord(json.status)) return unfinishedJob(json.status, json, requestId, progress);
  const result = readResponse(endpoint.reader, data, expected);
  if (result === 'not_generated') return notGenerated(requestId);
  return result ? { state: 'succeeded', progress, result } : { state: 'unreadable' };
}

/** The provider reports success, and every part of the result says that it failed. */
function notGenerated(requestId: string | null): FailedJob {
  const message = 'Every part of the result says that it failed.';
  return { state: 'failed', failure: { code: null, message, requestId } };
}

/** Some pages of the documentation show the facts in `data`, others beside `status`. */
function dataOf(json: JsonObject): JsonObject {
  return isJsonObject(json.data) ? json.data : json;
}

/** Reads `"40%"` as 40. */
function progressOf({ progress }: JsonObject): number | null {
  const percent =
    typeof progress === 'string' ? /^(\d{1,3})(?:\.\d+)?%$/.exec(progress)?.[1] : null;
  const number = percent ? Number(percent) : progress;
  return typeof number === 'number' && number >= 0 && number <= 100 ? number : null;
}
