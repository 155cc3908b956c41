import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { JsonObject } from '../common/json-object.js';
import type { OpenBody } from '../common/validation/open-body.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import {
  type Charged,
  setIgnoredFieldsHeader,
  setNotStoredHeader,
} from '../platform/http-server/responses/gateway-headers.js';
import { SseWriter } from '../platform/http-server/responses/sse-response.js';
import { TextAnswers } from '../text/text-answers.service.js';
import { quoteOf } from '../text/text-quote.js';
import { TextStreams } from '../text/text-streams.service.js';
import type { ResponsesBody } from './dto/responses.body.js';
import { ResponseAnswer, ResponseStream } from './output/response-faces.js';
import { PreparedResponses } from './prepared-responses.js';

type Sent = OpenBody<ResponsesBody>;

/** Responses as JSON or as a stream (API: POST /v1/responses). */
@Injectable()
export class ResponsesService {
  constructor(
    private readonly prepared: PreparedResponses,
    private readonly answers: TextAnswers,
    private readonly streams: TextStreams,
  ) {}

  /** The response, once its charge is durable and it is stored. Throws as `TextAnswers.complete` does. */
  async answer(
    call: AdmittedCall<'chat'>,
    sent: Sent,
    response: Response,
  ): Promise<Charged<JsonObject>> {
    const { asked, work, terms } = await this.prepared.of(call, sent);
    setIgnoredFieldsHeader(response, asked.ignored);
    const face = new ResponseAnswer(work, terms);
    const charged = await this.answers.complete(call, quoteOf(call.row, asked), face);
    const value = await work.stored(face.output, charged.value);
    if (work.wantsStorage && value.store !== true) setNotStoredHeader(response);
    return { ...charged, value };
  }

  /** Writes the response as server-sent events. Throws as `TextStreams.stream` does. */
  async stream(call: AdmittedCall<'chat'>, sent: Sent, response: Response): Promise<void> {
    const { asked, work, terms } = await this.prepared.of(call, sent);
    setIgnoredFieldsHeader(response, asked.ignored);
    // Whether the answer fits is not known yet: a conversation that is too large without it is.
    if (work.wantsStorage && !work.isToBeStored) setNotStoredHeader(response);
    const events: SseWriter = new SseWriter(response, undefined, () => face.heartbeat());
    const face = new ResponseStream(work, events, terms);
    await this.streams.stream(call, quoteOf(call.row, asked), face, events);
  }
}
