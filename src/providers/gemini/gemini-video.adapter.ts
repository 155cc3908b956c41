import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { parseUrl } from '../../common/parse-url.js';
import type { BoundedDownload } from '../../platform/http-client/bounded-download.js';
import { fetchedImages, type InlineImage } from '../http/inline-images.js';
import { failureOfFinished } from '../http/job-state.js';
import { listAt, numberAt, textAt } from '../http/json-fields.js';
import { openedVideo } from '../http/opened-video.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext, UpstreamTerms } from '../ports/attempt.js';
import type {
  FailedJob,
  VideoCommand,
  VideoContent,
  VideoPort,
  VideoReport,
} from '../ports/job.port.js';

const MAX_ANSWER_BYTES = 1024 * 1024;
/** A request with bytes in it may have 20 MB, and base64 takes a third more. */
const MAX_INLINE_BYTES = 14 * 1024 * 1024;
/** The name of a job. It becomes the id that a task keeps, with a colon between its two parts. */
const OPERATION = /^models\/([\w.-]{1,100})\/operations\/([\w-]{1,98})$/;
/** Where a finished video lies at the vendor. */
const FILE = /\/files\/([\w-]{1,200}):download$/;
/** The part of the body that the terms of a row are for. */
const PARAMETERS = 'parameters';
/** What the price of a video depends on. */
const PRICED: readonly string[] = ['durationSeconds', 'sampleCount', 'resolution'];

/**
 * Videos over Gemini's `predictLongRunning` (Veo): a job that is named, read and fetched with the key. Images are sent as bytes,
 * because the vendor fetches none. A video always has sound.
 */
export class GeminiVideo implements VideoPort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly download: BoundedDownload | undefined,
  ) {}

  async submitVideo(command: VideoCommand, context: AttemptContext): Promise<string> {
    const { size, audio } = command;
    if (size !== undefined || audio === false) throw this.http.refusal('field_not_taken');
    const images = await this.imagesOf(command, context.signal);
    const body = jsonBody(
      { instances: [instanceOf(command, images)], [PARAMETERS]: parametersOf(command) },
      PARAMETERS,
    );
    const path = `/models/${encodeURIComponent(context.upstreamModel)}:predictLongRunning`;
    return this.http.requestJson(
      { method: 'POST', path, body, timeout: 'submit', context },
      MAX_ANSWER_BYTES,
      jobIn,
    );
  }

  readVideo(jobId: string, context: AttemptContext): Promise<VideoReport> {
    return this.read(jobId, context, reportOf);
  }

  async openVideo(jobId: string, context: AttemptContext): Promise<VideoContent> {
    const uri = await this.read(jobId, context, uriIn);
    const url = parseUrl(uri);
    if (!url) throw this.http.unusableAnswer('bad_url');
    const [, file] = FILE.exec(url.pathname) ?? [];
    // The key goes nowhere but below the base URL, whatever the answer says.
    if (file === undefined) return { redirectUrl: url.href };
    return openedVideo(this.http, { path: `/files/${file}:download?alt=media`, context });
  }

  private read<T>(
    jobId: string,
    context: AttemptContext,
    read: (job: JsonObject, requestId: string | null) => T | undefined,
  ): Promise<T> {
    const [model = '', id = ''] = jobId.split(':');
    const path = `/models/${model}/operations/${id}`;
    return this.http.requestJson(
      { method: 'GET', path, timeout: 'poll', context },
      MAX_ANSWER_BYTES,
      read,
    );
  }

  private async imagesOf(
    { firstFrameUrl, lastFrameUrl, imageUrls = [] }: VideoCommand,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, InlineImage>> {
    const urls = [firstFrameUrl, lastFrameUrl, ...imageUrls].filter((url) => url !== undefined);
    const limits = { limitBytes: MAX_INLINE_BYTES, signal };
    const images = await fetchedImages(this.download, new Set(urls), limits);
    if (!images) throw this.http.refusal('value_not_taken');
    return images;
  }
}

function instanceOf(
  { prompt, firstFrameUrl, lastFrameUrl, imageUrls = [] }: VideoCommand,
  images: ReadonlyMap<string, InlineImage>,
): object {
  const bytesOf = (url: string | undefined) => {
    const image = url === undefined ? undefined : images.get(url);
    return (
      image && { bytesBase64Encoded: image.data.toString('base64'), mimeType: image.contentType }
    );
  };
  const references = imageUrls.map((url) => ({ image: bytesOf(url), referenceType: 'asset' }));
  return {
    prompt,
    image: bytesOf(firstFrameUrl),
    lastFrame: bytesOf(lastFrameUrl),
    referenceImages: references.length > 0 ? references : undefined,
  };
}

function parametersOf({ seconds, aspectRatio, resolution }: VideoCommand): object {
  return { durationSeconds: Number(seconds), aspectRatio, resolution };
}

function jobIn(job: JsonObject): string | undefined {
  const [, model, id] = OPERATION.exec(textAt(job, 'name') ?? '') ?? [];
  return model === undefined ? undefined : `${model}:${id}`;
}

/** Undefined for an answer that is no job. */
function reportOf(job: JsonObject, requestId: string | null): VideoReport | undefined {
  if (job.done !== true) {
    return textAt(job, 'name') === null ? undefined : { state: 'pending', progress: null };
  }
  const failed = failureOfFinished(job, requestId) ?? refusedIn(job, requestId);
  if (failed) return failed;
  return uriIn(job) === undefined
    ? { state: 'unreadable' }
    : { state: 'succeeded', progress: null };
}

function answerIn({ response }: JsonObject): JsonObject {
  const { generateVideoResponse: answer } = isJsonObject(response) ? response : {};
  return isJsonObject(answer) ? answer : {};
}

function uriIn(job: JsonObject): string | undefined {
  const { video } = listAt(answerIn(job), 'generatedSamples')?.[0] ?? {};
  return (isJsonObject(video) ? textAt(video, 'uri') : null) ?? undefined;
}

/** The vendor ends well, and keeps back what it made: a refusal of the request. */
function refusedIn(job: JsonObject, requestId: string | null): FailedJob | undefined {
  const answer = answerIn(job);
  const { raiMediaFilteredReasons: reasons } = answer;
  const [reason] = Array.isArray(reasons) ? (reasons as readonly unknown[]) : [];
  const isFiltered = reason !== undefined || (numberAt(answer, 'raiMediaFilteredCount') ?? 0) > 0;
  if (uriIn(job) !== undefined || !isFiltered) return undefined;
  const message = typeof reason === 'string' ? reason : null;
  return { state: 'failed', failure: { code: 'media_filtered', message, requestId } };
}

/** What a row of videos at this protocol must not have: a line for each, which begins with the field of the row. */
export function geminiVideoFaults({
  limits,
  terms: { drop = [], rename = {}, constants = {} } = {},
}: {
  readonly limits: {
    readonly sizePattern?: string | undefined;
    readonly audio?: boolean | undefined;
  };
  readonly terms?: UpstreamTerms | undefined;
}): string[] {
  const changed = [...drop, ...Object.entries(rename).flat()].find((name) => PRICED.includes(name));
  const fixed = Object.keys(constants).find(
    (name) => name !== 'resolution' && PRICED.includes(name),
  );
  return [
    ...(limits.sizePattern === undefined ? [] : ['limits.size_pattern: gemini takes no size']),
    ...(limits.audio === true ? ['limits.audio: a video of gemini always has sound'] : []),
    ...(changed === undefined ? [] : [`${changed}: must not be dropped or renamed at gemini`]),
    ...(fixed === undefined ? [] : [`constants.${fixed}: callers pay for it, and choose it`]),
  ];
}
