import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { parseUrl } from '../../common/parse-url.js';
import { fetchedImages, type InlineImage, jsonWithImages } from '../http/inline-images.js';
import { failureOfFinished } from '../http/job-state.js';
import { listAt, numberAt, textAt } from '../http/json-fields.js';
import { openedVideo, orAskAgain } from '../http/opened-video.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { type ProviderContext, withoutKey } from '../http/provider-context.js';
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
const OPERATION = /^models\/(?!\.+\/)([\w.-]{1,99})\/operations\/(\w[\w.-]{0,98})$/;
/** Where a finished video lies at the vendor. */
const FILE = /\/files\/([\w-]{1,200}):download$/;
/** The part of the body that the terms of a row are for. */
const PARAMETERS = 'parameters';
/** Reference images of one video. */
const MAX_REFERENCES = 3;
/** What the price of a video depends on. */
const PRICED: readonly string[] = ['durationSeconds', 'sampleCount', 'resolution'];

/**
 * Videos over Gemini's `predictLongRunning` (Veo): a job that is named, read and fetched with the key. Images are sent as bytes,
 * because the vendor fetches none. A video always has sound.
 */
export class GeminiVideo implements VideoPort {
  constructor(
    private readonly http: ProviderHttp,
    private readonly access: ProviderContext,
  ) {}

  lacks({ size, audio }: VideoCommand): readonly string[] {
    return [...(size === undefined ? [] : ['size']), ...(audio === false ? ['audio'] : [])];
  }

  async submitVideo(command: VideoCommand, context: AttemptContext): Promise<string> {
    if (this.lacks(command).length > 0) throw this.http.refusal('field_not_taken');
    const images = await this.imagesOf(command, context.signal);
    const value = { instances: [instanceOf(command, images)], [PARAMETERS]: parametersOf(command) };
    const body = jsonWithImages(value, [...images.values()], PARAMETERS);
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
    const { uri } = await orAskAgain(this.read(jobId, context, (job) => ({ uri: uriIn(job) })));
    const url = uri === undefined ? undefined : parseUrl(uri);
    if (!url) throw this.http.unusableAnswer('no_url');
    const [, file] = FILE.exec(url.pathname) ?? [];
    // The key goes nowhere but to the base URL, whatever the answer says.
    if (file === undefined) return this.elsewhere(url);
    const path = `/files/${file}:download?alt=media`;
    const content = await openedVideo(this.http, { path, context });
    return 'body' in content ? content : this.redirected(content.redirectUrl, context);
  }

  /** The vendor may redirect to another path of its own, which takes the key too. */
  private async redirected(location: string, context: AttemptContext): Promise<VideoContent> {
    const url = parseUrl(location);
    if (!url) throw this.http.unusableAnswer('no_url');
    const isOwn = url.origin === parseUrl(this.access.baseUrl)?.origin;
    if (!isOwn) return this.elsewhere(url);
    const request = { origin: url.origin, path: url.pathname + url.search, context };
    const content = await openedVideo(this.http, request);
    return 'body' in content ? content : this.elsewhere(new URL(content.redirectUrl));
  }

  /** A URL that is fetched without the key, and must not have it. */
  private elsewhere({ href }: URL): VideoContent {
    const isClean = [href, decoded(href)].every((text) => withoutKey(this.access, text) === text);
    if (!isClean) throw this.http.unusableAnswer('bad_url');
    return { redirectUrl: href };
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
    const images = await fetchedImages(this.access.download, urls, limits);
    if (!images) throw this.http.refusal('value_not_taken');
    return images;
  }
}

/** The URL without its percent codes; as it is where these are none. */
function decoded(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}

function instanceOf(
  { prompt, firstFrameUrl, lastFrameUrl, imageUrls = [] }: VideoCommand,
  images: ReadonlyMap<string, InlineImage>,
): object {
  const bytesOf = (url: string | undefined) => {
    const image = url === undefined ? undefined : images.get(url);
    return image && { bytesBase64Encoded: image.token, mimeType: image.contentType };
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
  if (uriIn(job) !== undefined) return { state: 'succeeded', progress: null };
  return failureOfFinished(job, requestId) ?? refusedIn(job, requestId) ?? { state: 'unreadable' };
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
  if (!isFiltered) return undefined;
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
    readonly maxImageUrls?: number | undefined;
  };
  readonly terms?: UpstreamTerms | undefined;
}): string[] {
  const changed = [...drop, ...Object.entries(rename).flat()].find((name) => PRICED.includes(name));
  const fixed = Object.keys(constants).find(
    (name) => name !== 'resolution' && PRICED.includes(name),
  );
  return [
    ...(limits.sizePattern === undefined ? [] : ['limits.size_pattern: gemini takes no size']),
    ...((limits.maxImageUrls ?? 0) > MAX_REFERENCES
      ? [`limits.max_image_urls: gemini takes at most ${MAX_REFERENCES}`]
      : []),
    ...(limits.audio === true ? ['limits.audio: a video of gemini always has sound'] : []),
    ...(changed === undefined ? [] : [`${changed}: must not be dropped or renamed at gemini`]),
    ...(fixed === undefined ? [] : [`constants.${fixed}: callers pay for it, and choose it`]),
  ];
}
