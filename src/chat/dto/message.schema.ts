import { ApiSchema, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  anyOfType,
  ChatCustomCall,
  ChatCustomTool,
  ChatFunctionCall,
  ChatFunctionTool,
  ChatJsonObjectFormat,
  ChatJsonSchemaFormat,
  ChatTextFormat,
  TOOL_CALLS_SCHEMA,
} from './chat-tools.schema.js';

/** The role of a message (decision G-92). */
export const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

class ChatTextPart {
  @ApiProperty({ enum: ['text'], description: 'Always `text`' })
  type!: 'text';

  @ApiProperty({ description: 'The text' })
  text!: string;
}

class ChatRefusalPart {
  @ApiProperty({ enum: ['refusal'], description: 'Always `refusal`' })
  type!: 'refusal';

  @ApiProperty({ description: 'The words with which the model declined' })
  refusal!: string;
}

class ChatImage {
  @ApiProperty({ description: 'http or https URL, or data URL of an image' })
  url!: string;

  @ApiPropertyOptional({
    enum: ['auto', 'low', 'high', 'original'],
    description: 'How closely the model looks; more detail costs more input tokens',
  })
  detail?: string;
}

class ChatImagePart {
  @ApiProperty({ enum: ['image_url'], description: 'Always `image_url`' })
  type!: 'image_url';

  @ApiProperty({ description: 'The image' })
  image_url!: ChatImage;
}

/** A message, for the documentation; `checkMessages` checks it. */
@ApiSchema({ name: 'ChatMessage' })
export class ChatRequestMessage {
  @ApiProperty({ enum: ROLES, description: 'Who speaks' })
  role!: string;

  @ApiPropertyOptional({
    description: 'A text or parts; null where the assistant only calls tools',
    oneOf: [
      { type: 'string', nullable: true },
      { type: 'array', items: anyOfType(ChatTextPart, ChatImagePart, ChatRefusalPart) },
    ],
  })
  content?: unknown;

  @ApiPropertyOptional({ description: 'Name of the speaker, to tell speakers of one role apart' })
  name?: string;

  @ApiPropertyOptional({
    ...TOOL_CALLS_SCHEMA,
    description: 'In an assistant message: the calls that the model made',
  })
  tool_calls?: unknown;

  @ApiPropertyOptional({ description: 'In a tool message: the call that it answers' })
  tool_call_id?: string;
}

/** The schemas that the chat body and its response refer to. */
export const CHAT_SCHEMAS = [
  ChatRequestMessage,
  ChatTextPart,
  ChatImagePart,
  ChatRefusalPart,
  ChatFunctionTool,
  ChatCustomTool,
  ChatFunctionCall,
  ChatCustomCall,
  ChatTextFormat,
  ChatJsonObjectFormat,
  ChatJsonSchemaFormat,
];
