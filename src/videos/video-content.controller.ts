import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller, ApiKeyAuth } from '../auth/api-key-auth.decorator.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { setSandboxHeader } from '../platform/http-server/responses/gateway-headers.js';
import { StrictQuery } from '../common/validation/strict-query.pipe.js';
import { sendStoredFile } from '../platform/storage/send-stored-file.js';
import {
  ContentEndpoint,
  type ContentReader,
  CurrentReader,
} from '../tasks/content-links/content-endpoint.decorator.js';
import { ContentLinkView } from '../tasks/content-links/content-link.view.js';
import { ContentLinks } from '../tasks/content-links/content-links.js';
import { VideoContentQuery } from './dto/video.query.js';
import { VideoReads } from './video-reads.js';
import { VideosService } from './videos.service.js';

const BINARY = { type: 'string', format: 'binary' } as const;

/** The files of videos, and links to them. */
@ApiTags('videos')
@Controller('v1/videos')
export class VideoContentController {
  constructor(
    private readonly videos: VideosService,
    private readonly reads: VideoReads,
    private readonly links: ContentLinks,
  ) {}

  @Get(':id/content')
  @ContentEndpoint()
  @ApiOperation({
    summary: 'The file of a completed video',
    description: 'Kept for 14 days. Takes Range, If-Range and HEAD.',
  })
  @ApiProduces('video/mp4')
  @ApiOkResponse({ description: 'The file', schema: BINARY })
  @ApiResponse({ status: 206, description: 'The range', schema: BINARY })
  @ErrorResponses('invalid_request')
  async retrieveVideoContent(
    @CurrentReader() reader: ContentReader,
    @Param('id') id: string,
    @StrictQuery() query: VideoContentQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const task = await this.reads.get({ caller: reader, id, model: query.model });
    const { file, filename } = await this.videos.download(task);
    setSandboxHeader(response, task.onSandbox);
    await sendStoredFile(request, response, file, { filename });
  }

  @Post(':id/content-link')
  @ApiKeyAuth('call')
  @HttpCode(200)
  @ApiOperation({
    summary: 'A link to the file of a video',
    description: 'The link is good without a key until it expires, for GET and HEAD.',
  })
  @ApiOkResponse({ type: ContentLinkView })
  @ErrorResponses('task_not_found', 'content_not_available', 'task_not_ready', 'content_expired')
  async createVideoContentLink(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
  ): Promise<ContentLinkView> {
    const task = await this.reads.get({ caller, id, model: undefined });
    const { expiresAt } = await this.videos.download(task);
    return this.links.temporary(task, { surface: 'videos', expiresAt });
  }
}
