/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try-dns COMMAND: what relay/dns.c makes of messages, which are lines of hexadecimal digits on
 * stdin.  Each is copied to memory of just its size, so that a sanitizer sees what is read beyond.
 *
 * try-dns query: for each message what it asks, or why it is no query
 * try-dns cuts: for one message the lengths at which its beginning is a query
 * try-dns servfail: for each query the answer that says so
 * try-dns truncated: for a query and an answer what is sent instead of the answer
 * try-dns answer: for a query and an answer whether the one belongs to the other
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "dns.h"
#include "err.h"

struct message {
	uint8_t *bytes;
	size_t len;
};

static void message_done(struct message *m)
{
	free(m->bytes);
}

#define cleanup_message CLEANUP(message_done)

static int read_message(struct message *ret)
{
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t n = getline(&line, &room, stdin);

	if (n < 0)
		return -1;
	ret->len = (size_t)n / 2;
	ret->bytes = malloc(ret->len == 0 ? 1 : ret->len);
	if (ret->bytes == NULL)
		return -1;
	for (size_t i = 0; i < ret->len; i++) {
		const char digits[3] = { line[2 * i], line[2 * i + 1] };

		ret->bytes[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return 0;
}

static void print_message(const uint8_t *msg, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", msg[i]);
	printf("\n");
}

static int must_be_query(const struct message *m, struct dns_query *ret)
{
	struct err e = { 0 };

	if (dns_check_query(m->bytes, m->len, ret, &e) == 0)
		return 0;
	printf("%s\n", e.msg);
	return -1;
}

static int try_query(void)
{
	for (;;) {
		cleanup_message struct message m = { 0 };
		struct dns_query q;

		if (read_message(&m) < 0)
			return 0;
		if (must_be_query(&m, &q) == 0)
			printf("id %u question %zu udp %zu\n", dns_id(m.bytes), q.question_bytes,
			       q.udp_bytes);
	}
}

static int try_cuts(void)
{
	cleanup_message struct message m = { 0 };

	if (read_message(&m) < 0)
		return 1;
	for (size_t len = 0; len <= m.len; len++) {
		cleanup_message struct message part = { malloc(len + (len == 0)), len };
		struct dns_query q;
		struct err e;

		if (part.bytes == NULL)
			return 1;
		memcpy(part.bytes, m.bytes, len);
		if (dns_check_query(part.bytes, len, &q, &e) == 0)
			printf("%zu\n", len);
	}
	return 0;
}

static int try_servfail(void)
{
	for (;;) {
		cleanup_message struct message m = { 0 };
		uint8_t answer[DNS_BARE_BYTES];
		struct dns_query q;

		if (read_message(&m) < 0)
			return 0;
		if (must_be_query(&m, &q) == 0)
			print_message(answer, dns_make_servfail(m.bytes, &q, answer));
	}
}

static int try_truncated(void)
{
	cleanup_message struct message m = { 0 }, answer = { 0 };
	uint8_t ret[DNS_BARE_BYTES];
	struct dns_query q;

	if (read_message(&m) < 0 || read_message(&answer) < 0 || must_be_query(&m, &q) < 0)
		return 1;
	print_message(ret, dns_make_truncated(answer.bytes, &q, ret));
	return 0;
}

static int try_answer(void)
{
	for (;;) {
		cleanup_message struct message m = { 0 }, answer = { 0 };
		struct dns_query q;

		if (read_message(&m) < 0 || read_message(&answer) < 0 || must_be_query(&m, &q) < 0)
			return 0;
		printf("%s\n", dns_is_answer(answer.bytes, answer.len, m.bytes, &q) ? "yes" : "no");
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} commands[] = {
		{ "query", try_query },       { "cuts", try_cuts },
		{ "servfail", try_servfail }, { "truncated", try_truncated },
		{ "answer", try_answer },
	};

	for (size_t i = 0; argc == 2 && i < N_ELEMENTS(commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run();
	(void)fprintf(stderr, "usage: try-dns query|cuts|servfail|truncated|answer\n");
	return 2;
}
