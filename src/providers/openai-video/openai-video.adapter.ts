import type { JsonObject } from '../../common/json-object.js';
import { openedVideo } from '../http/opened-video.js';
import { failureOfFinished, isSuccessWord, unfinishedJob } from '../http/job-state.js';
import { jobIdAt, numberAt, textAt } from '../http/json-fields.js';
import type { ProviderHttp } from '../http/provider-http.js';
import { jsonBody } from '../http/request-body.js';
import type { AttemptContext } from '../ports/attempt.js';
import type { VideoCommand, VideoContent, VideoPort, VideoReport } from '../ports/job.port.js';

const MAX_ANSWER_BYTES = 1024 * 1024;

/** Videos over the wire protocol of OpenAI's `/videos`, with the fields other vendors add to it. */
export class OpenAiVideo implements VideoPort {
  constructor(private readonly http: ProviderHttp) {}

  submitVideo(command: VideoCommand, context: AttemptContext): Promise<string> {
    const body = jsonBody({
      model: context.upstreamModel,
      prompt: command.prompt,
      seconds: command.seconds,
      size: command.size,
      aspect_ratio: command.aspectRatio,
      resolution: command.resolution,
      audio: command.audio,
      first_frame_url: command.firstFrameUrl,
      last_frame_url: command.lastFrameUrl,
      image_urls: command.imageUrls,
    });
    return this.http.requestJson(
      { method: 'POST', path: '/videos', body, timeout: 'submit', context },
      MAX_ANSWER_BYTES,
      (video) => jobIdAt(video, 'id'),
    );
  }

  readVideo(jobId: string, context: AttemptContext): Promise<VideoReport> {
    return this.http.requestJson(
      { method: 'GET', path: `/videos/${jobId}`, timeout: 'poll', context },
      MAX_ANSWER_BYTES,
      reportOf,
    );
  }

  openVideo(jobId: string, context: AttemptContext): Promise<VideoContent> {
    return openedVideo(this.http, { path: `/videos/${jobId}/content`, context });
  }
}

/** Undefined for a response without a state, which is unusable. */
function reportOf(video: JsonObject, requestId: string | null): VideoReport | undefined {
  const status = textAt(video, 'status');
  if (status === null) return undefined;
  const progress = numberAt(video, 'progress');
  if (isSuccessWord(status))
    return failureOfFinished(video, requestId) ?? { state: 'succeeded', progress };
  return unfinishedJob(status, video, requestId, progress);
}
