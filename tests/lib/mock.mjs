// SPDX-License-Identifier: Apache-2.0
//
// The model's side of a conversation, for Claude Code and Codex: mock.mjs PORT COMMAND LOG
//
// It listens on 127.0.0.1:PORT. To the first message it answers with a call of the agent's shell
// tool that runs COMMAND, to the one that brings the tool's result with the text MOCK-DONE. Each
// request is a line of JSON in LOG, which exists as soon as connections are accepted.
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [port, command, log] = process.argv.slice(2);

function hasToolResult(request) {
	return (request.messages ?? []).some(
		(message) =>
			Array.isArray(message.content) &&
			message.content.some((block) => block.type === 'tool_result'),
	);
}

function answerBlock(request) {
	const bash = (request.tools ?? []).find((tool) => tool.name === 'Bash');

	if (!bash || hasToolResult(request)) return { type: 'text', text: 'MOCK-DONE' };
	return {
		type: 'tool_use',
		id: 'toolu_mock',
		name: 'Bash',
		input: { command, description: 'what the test asks for' },
	};
}

// The events of the Messages API's stream for one content block
function streamEvents(request, block) {
	const isTool = block.type === 'tool_use';
	const message = {
		id: 'msg_mock',
		type: 'message',
		role: 'assistant',
		model: request.model,
		content: [],
		stop_reason: null,
		stop_sequence: null,
		usage: { input_tokens: 1, output_tokens: 1 },
	};

	return [
		{ type: 'message_start', message },
		{
			type: 'content_block_start',
			index: 0,
			content_block: isTool ? { ...block, input: {} } : { ...block, text: '' },
		},
		{
			type: 'content_block_delta',
			index: 0,
			delta: isTool
				? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
				: { type: 'text_delta', text: block.text },
		},
		{ type: 'content_block_stop', index: 0 },
		{
			type: 'message_delta',
			delta: { stop_reason: isTool ? 'tool_use' : 'end_turn', stop_sequence: null },
			usage: { output_tokens: 1 },
		},
		{ type: 'message_stop' },
	];
}

function answer(request, response) {
	const block = answerBlock(request);

	if (!request.stream) {
		response.writeHead(200, { 'content-type': 'application/json' });
		response.end(
			JSON.stringify({
				id: 'msg_mock',
				type: 'message',
				role: 'assistant',
				model: request.model,
				content: [block],
				stop_reason: block.type === 'tool_use' ? 'tool_use' : 'end_turn',
				stop_sequence: null,
				usage: { input_tokens: 1, output_tokens: 1 },
			}),
		);
		return;
	}
	sendEvents(response, streamEvents(request, block));
}

function sendEvents(response, events) {
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	for (const event of events)
		response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
	response.end();
}

// Codex' Responses API. A session goes on after a turn: the last message is the one to answer.
function answerCodex(request, response) {
	const last = (request.input ?? []).at(-1);
	const item = /_call_output$/.test(last?.type ?? '')
		? {
				type: 'message',
				role: 'assistant',
				id: 'msg_mock',
				content: [{ type: 'output_text', text: 'MOCK-DONE' }],
			}
		: {
				type: 'function_call',
				id: 'fc_mock',
				call_id: 'call_mock',
				name: 'exec_command',
				arguments: JSON.stringify({ cmd: command }),
			};
	const whole = {
		id: 'resp_mock',
		object: 'response',
		status: 'completed',
		model: request.model,
		output: [item],
		usage: {
			input_tokens: 1,
			output_tokens: 1,
			total_tokens: 2,
			input_tokens_details: { cached_tokens: 0 },
			output_tokens_details: { reasoning_tokens: 0 },
		},
	};

	sendEvents(response, [
		{ type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } },
		{ type: 'response.output_item.done', output_index: 0, item },
		{ type: 'response.completed', response: whole },
	]);
}

function parse(text) {
	try {
		return JSON.parse(text);
	} catch {
		return {}; // HEAD and GET have no body
	}
}

createServer(async (incoming, response) => {
	const chunks = [];

	for await (const chunk of incoming) chunks.push(chunk);
	const request = parse(Buffer.concat(chunks).toString());
	const path = incoming.url.split('?')[0];

	appendFileSync(log, JSON.stringify({ method: incoming.method, path, request }) + '\n');
	if (incoming.method === 'POST' && path === '/v1/messages') {
		answer(request, response);
		return;
	}
	if (incoming.method === 'POST' && path === '/v1/responses') {
		answerCodex(request, response);
		return;
	}
	response.writeHead(404, { 'content-type': 'application/json' });
	response.end(JSON.stringify({ type: 'error', error: { type: 'not_found_error', message: path } }));
}).listen(Number(port), '127.0.0.1', () => writeFileSync(log, ''));
