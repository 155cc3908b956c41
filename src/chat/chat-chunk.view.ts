import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ChatSayingView, ChatUsageView } from './chat-completion.view.js';
import { EXTRA_CONTENT } from './dto/chat-tools.schema.js';

class FunctionPieceView {
  @ApiPropertyOptional({
    example: 'get_weather',
    description: 'Name of the function; on the first piece',
  })
  name?: string;

  @ApiPropertyOptional({ description: 'A piece of the JSON text' })
  arguments?: string;
}

class CustomPieceView {
  @ApiPropertyOptional({ description: 'Name of the tool; on the first piece' })
  name?: string;

  @ApiPropertyOptional({ description: 'A piece of the input' })
  input?: string;
}

/** A piece of the call of a tool. The first piece of each call has its id, its type and its name. */
class ToolCallPieceView {
  @ApiProperty({ type: 'integer', description: 'Which call it is a piece of' })
  index!: number;

  @ApiPropertyOptional({ example: 'call_1', description: 'Id of the call; on its first piece' })
  id?: string;

  @ApiPropertyOptional({
    enum: ['function', 'custom'],
    description: 'Kind of the tool; on the first piece',
  })
  type?: string;

  @ApiPropertyOptional({ description: 'A piece of the call of a function' })
  function?: FunctionPieceView;

  @ApiPropertyOptional({ description: 'A piece of the call of a custom tool' })
  custom?: CustomPieceView;

  @ApiPropertyOptional(EXTRA_CONTENT)
  extra_content?: object;
}

class ChatDeltaView extends ChatSayingView {
  @ApiPropertyOptional({ enum: ['assistant'], description: 'On the first chunk of a choice' })
  role?: string;

  @ApiPropertyOptional({ type: String, nullable: true, description: 'The next piece of the text' })
  content?: string | null;

  @ApiPropertyOptional({ type: [ToolCallPieceView], description: 'Pieces of the calls of tools' })
  tool_calls?: ToolCallPieceView[];
}

class ChatChunkChoiceView {
  @ApiProperty({ type: 'integer', example: 0, description: 'Position of the choice, from 0' })
  index!: number;

  @ApiProperty({ description: 'What is new since the last chunk' })
  delta!: ChatDeltaView;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'As the provider sent them',
  })
  logprobs?: object;

  @ApiProperty({ type: String, nullable: true, description: 'Null until the end of the choice' })
  finish_reason!: string | null;
}

/** One event of a chat stream, for the documentation (API: Chat stream chunk). */
export class ChatChunkView {
  @ApiProperty({
    example: 'chatcmpl-0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'The same on every chunk: `chatcmpl-` and the digits of the execution',
  })
  id!: string;

  @ApiProperty({ enum: ['chat.completion.chunk'], description: 'Says what kind of object this is' })
  object!: 'chat.completion.chunk';

  @ApiProperty({ description: 'Epoch seconds' })
  created!: number;

  @ApiProperty({ example: 'gen-5-mini', description: 'Id of the model, as it was asked for' })
  model!: string;

  @ApiProperty({
    type: [ChatChunkChoiceView],
    description: 'The choices that this chunk adds to; empty on a chunk with the usage alone',
  })
  choices!: ChatChunkChoiceView[];

  @ApiPropertyOptional({
    nullable: true,
    type: ChatUsageView,
    description: 'With `stream_options.include_usage`: null, and on the last chunk the usage',
  })
  usage?: ChatUsageView | null;
}

/** An example of an event, for the documentation. */
export const CHUNK_EXAMPLE = {
  id: 'chatcmpl-0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
  object: 'chat.completion.chunk',
  created: 1_795_132_800,
  model: 'gen-5-mini',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: null }],
};
