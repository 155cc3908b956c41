import { Controller, Get, Param, Res } from '@nestjs/common';
import {
  ApiConsumes,
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { type AdmittedCall, Call } from '../admission/admitted-call.js';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { OPERATIONS } from '../catalog/operations.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { IdempotencyKey } from '../admission/idempotency-key.guard.js';
import { TASK_HEADERS, TaskEndpoint } from '../tasks/submission/task-endpoint.decorator.js';
import type { WaitPreference } from '../tasks/reads/tasks.service.js';
import type { Task } from '../tasks/task.js';
import { setWaitHeaders, Wait, WAIT_HEADERS } from '../tasks/wait.decorator.js';
import { VideoBodyExamples } from './dto/video-examples.js';
import { VideoBody } from './dto/video.body.js';
import { VideoQuery } from './dto/video.query.js';
import { VideoBodyGuard } from './video-body.guard.js';
import { VideoReads } from './video-reads.js';
import { VideoTaskView } from './video-task.view.js';
import { VideoView, viewVideo } from './video.view.js';
import { VideosService } from './videos.service.js';

const { path: PATH, tag: TAG } = OPERATIONS.video;

/** How long SDKs wait between two polls (API: GET /v1/videos/{id}). */
const POLL_AFTER_MS = 10_000;
const POLL_AFTER_HEADER = 'openai-poll-after-ms';

/** Returns the video. While it is not final, sets a header that says when to poll again. */
function withPollAfter(response: Response, video: VideoView): VideoView {
  const isOpen = video.status === 'queued' || video.status === 'in_progress';
  if (isOpen) response.setHeader(POLL_AFTER_HEADER, String(POLL_AFTER_MS));
  return video;
}

/** Video generation. */
@ApiExtraModels(VideoTaskView)
@Controller()
export class VideosController {
  constructor(
    private readonly videos: VideosService,
    private readonly reads: VideoReads,
  ) {}

  @TaskEndpoint('video', {
    status: 200,
    bodyGuard: VideoBodyGuard,
    toBody: viewVideo,
    codes: [
      'invalid_request',
      'invalid_multipart',
      'insufficient_user_quota',
      'model_not_found',
      'model_wrong_kind',
    ],
  })
  @ApiConsumes('application/json', 'multipart/form-data')
  @VideoBodyExamples()
  @ApiOperation({
    summary: 'Video generation',
    description:
      'Answers at once with a queued video. Poll it, wait for it with Prefer, or use a webhook, then fetch its content. ' +
      'A failed video is refunded. A multipart form takes text parts only.',
  })
  @ApiOkResponse({ type: VideoView, headers: TASK_HEADERS })
  createVideo(
    @Call() call: AdmittedCall<'video'>,
    @StrictBody() body: VideoBody,
    @IdempotencyKey() key: string | undefined,
  ): Promise<Task> {
    return this.videos.submit(call, body, key);
  }

  @Get(`${PATH}/:id`)
  @ApiTags(TAG)
  @ApiKeyAuth('call')
  @ApiOperation({
    summary: 'One video',
    description: 'Poll every 10 to 20 seconds while it is queued or in progress.',
  })
  @ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`wait=N`: answer when the video is final or N seconds (1 to 60) are over',
  })
  @ApiOkResponse({
    type: VideoView,
    headers: {
      ...WAIT_HEADERS,
      'openai-poll-after-ms': {
        description: 'When to ask again, while it is not final',
        schema: { type: 'integer' },
      },
    },
  })
  @ErrorResponses('invalid_request', 'task_not_found')
  async retrieveVideo(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @StrictQuery() query: VideoQuery,
    @Wait() patience: WaitPreference | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<VideoView> {
    const awaited = await this.reads.getAfterWait({ caller, id, model: query.model }, patience);
    return withPollAfter(response, viewVideo(setWaitHeaders(response, awaited)));
  }
}
