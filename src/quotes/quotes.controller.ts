import { Controller, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { RunGuard, RunHeaders } from '../admission/run.guard.js';
import { ApiKeyAuth, CurrentCaller } from '../auth/api-key-auth.decorator.js';
import type { Caller } from '../auth/caller.js';
import { CountsAsRead, RateLimitGuard } from '../auth/rate-limit/rate-limit.guard.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { QuoteBody, type QuotedRequestBody } from './dto/quote.body.js';
import { QuoteListView, QuoteView } from './quote.view.js';
import { QuotesService } from './quotes.service.js';

const SPEECH = {
  path: '/v1/audio/speech',
  body: { model: 'aud-v4', input: 'Hello', voice: 'Adam' },
};
const TRANSCRIPTION = {
  path: '/v1/audio/transcriptions',
  body: { model: 'aud-transcribe-v2' },
  duration_seconds: 61.2,
};

/** What calls would cost (docs/reference/api/conventions.md, "Quotes"). */
@ApiTags('account')
@ApiKeyAuth('read', 'call')
@ApiExtraModels(QuoteView, QuoteListView)
@Controller('v1/quotes')
export class QuotesController {
  constructor(
    private readonly quotes: QuotesService,
    private readonly limits: RateLimitGuard,
  ) {}

  @Post()
  @HttpCode(200)
  @CountsAsRead()
  @UseGuards(RunGuard, JsonBodyGuard)
  @RunHeaders()
  @BodyExamples(QuoteBody, { one: SPEECH, list: { requests: [SPEECH, TRANSCRIPTION] } })
  @ApiOperation({
    summary: 'What calls would cost, or why they would be refused',
    description:
      'Takes one request or a list, and calls, downloads and holds nothing. A refusal is an answer too: `error` alone. Each request counts as a read of the key. With `x-gateway-run` it looks at that run too, and begins none.',
  })
  @ApiOkResponse({
    schema: {
      oneOf: [{ $ref: getSchemaPath(QuoteView) }, { $ref: getSchemaPath(QuoteListView) }],
    },
  })
  @ErrorResponses('invalid_request', 'invalid_content_type', 'request_too_large')
  async createQuote(
    @CurrentCaller() caller: Caller,
    @StrictBody() body: QuoteBody,
    @Req() { run }: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<QuoteView | QuoteListView> {
    const requests = requestsOf(body);
    await this.limits.takeReads(caller, response, requests.length - 1);
    const data = await this.quotes.quotes(caller, requests, run);
    const [only] = data;
    return body.requests === undefined && only ? only : { object: 'list', data };
  }
}

function requestsOf(body: QuoteBody): readonly QuotedRequestBody[] {
  const { requests, ...one } = body;
  if (requests === undefined) {
    if ((one.path as string | undefined) !== undefined) return [one];
    throw new GatewayError('invalid_request', 'path is required, or requests.', { param: 'path' });
  }
  const [beside] = Object.keys(one).filter((name) => one[name as keyof typeof one] !== undefined);
  if (beside === undefined) return requests;
  throw new GatewayError('invalid_request', `${beside} must not be sent beside requests.`, {
    param: beside,
  });
}
