import { Controller, Next, Req, Res, UseInterceptors } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiHeader,
  ApiOkResponse,
  ApiOperation,
  getSchemaPath,
} from '@nestjs/swagger';
import type { NextFunction, Request, Response } from 'express';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { TextEndpoint } from '../admission/call-endpoint.decorators.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { type OpenBody, OpenBodyOf, STRICT_HEADERS } from '../common/validation/open-body.js';
import { BodyLimit } from '../platform/http-server/request-body/json-body.guard.js';
import {
  CHARGE_HEADER,
  CHARGE_HEADERS,
  IGNORED_FIELDS_HEADERS,
  OUTPUT_CAP_HEADERS,
  sendCharged,
  STORED_HEADERS,
} from '../platform/http-server/responses/gateway-headers.js';
import { KEY_HEADERS } from '../platform/http-server/responses/answer-copy.js';
import { ReplayedResponseInterceptor, ResponseModelGuard } from './background/background-replay.js';
import { BackgroundSubmission } from './background/background-submission.js';
import { EVENT_EXAMPLE, ResponseEventView } from './dto/response-event.view.js';
import { RESPONSE_EXAMPLES } from './dto/response-examples.js';
import { RESPONSE_SCHEMAS } from './dto/response-items.schema.js';
import { ResponseTaskResultView, ResponseView } from './dto/response.view.js';
import { ResponsesBody } from './dto/responses.body.js';
import { ResponsesService } from './responses.service.js';

/** A conversation with its images is part of the body. */
export const RESPONSES_BODY_BYTES = 32 * 1024 * 1024;

/** OpenAPI: a response in the background has no charge yet. */
const NOT_IN_BACKGROUND = {
  [CHARGE_HEADER]: { ...CHARGE_HEADERS[CHARGE_HEADER], required: false },
};
/** OpenAPI: the header of a response in the background. */
const BACKGROUND_HEADERS = {
  'x-gateway-task-id': {
    description: 'With `background`: the id of the task, which has the digits of the response',
    schema: { type: 'string' },
  },
} as const;

const HEADERS = {
  ...NOT_IN_BACKGROUND,
  ...BACKGROUND_HEADERS,
  ...IGNORED_FIELDS_HEADERS,
  ...OUTPUT_CAP_HEADERS,
  ...STORED_HEADERS,
  ...KEY_HEADERS,
} as const;

/** Responses: text with a stored conversation. */
@ApiExtraModels(ResponseView, ResponseEventView, ResponseTaskResultView, ...RESPONSE_SCHEMAS)
@Controller()
export class ResponsesController {
  constructor(
    private readonly responses: ResponsesService,
    private readonly background: BackgroundSubmission,
  ) {}

  @TextEndpoint(
    { path: '/v1/responses', modelGuard: ResponseModelGuard },
    'previous_response_not_found',
  )
  @UseInterceptors(ReplayedResponseInterceptor)
  @BodyLimit(RESPONSES_BODY_BYTES)
  @BodyExamples(ResponsesBody, RESPONSE_EXAMPLES)
  @ApiHeader(STRICT_HEADERS)
  @ApiOperation({
    summary: 'Text with tools, and with conversations that are stored',
    description:
      'One JSON object, or with `stream` server-sent events that end with `data: [DONE]`. ' +
      'A stream that breaks ends with the events `error` and `response.failed` and is not charged. ' +
      'With `background` the response is answered at once as `queued`: read it by its id, or have it sent to a `webhook`. ' +
      'Fields that nobody knows are left out and named in `x-gateway-ignored-fields`.',
  })
  @ApiOkResponse({
    description: 'The response',
    content: {
      'application/json': { schema: { $ref: getSchemaPath(ResponseView) } },
      'text/event-stream': {
        schema: {
          oneOf: [{ $ref: getSchemaPath(ResponseEventView) }, { type: 'string', enum: ['[DONE]'] }],
        },
        example: EVENT_EXAMPLE,
      },
    },
    headers: HEADERS,
  })
  createResponse(
    @Call() call: AdmittedCall<'chat'>,
    @OpenBodyOf(ResponsesBody) sent: OpenBody<ResponsesBody>,
    @Req() request: Request,
    @Res() response: Response,
    @Next() next: NextFunction,
  ): Promise<void> | undefined {
    if (sent.body.background === true) {
      return this.background.submit(call, sent, request, response).then((value) => {
        response.json(value);
      });
    }
    // The stream is not awaited: a promise that Nest and Express await keeps 1.5 kB in memory for each open stream.
    return sent.body.stream
      ? void this.responses.stream(call, sent, response).catch(next)
      : sendCharged(response, this.responses.answer(call, sent, response));
  }
}
