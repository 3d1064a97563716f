/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands of the tool, run in the test's process against its server, and what came of them */
#ifndef COMMAND_RUN_H
#define COMMAND_RUN_H

#include "cli/util.h"
#include "server.h"

#define WORDS_MAX 20
#define OUTPUT_MAX (1 << 20)
#define HERE_ADDR "192.0.2.1"

/* Output of the last command */
static char printed[OUTPUT_MAX];

static inline int shell(const struct server_run *r, const char *script)
{
	char *cmd;
	int ret;

	assert_true(asprintf(&cmd, "cd '%s' && set -e\n%s", r->tmp->path, script) > 0);
	ret = system(cmd);
	free(cmd);
	return ret;
}

static inline void capture(int *saved, FILE **to)
{
	fflush(stdout);
	*to = tmpfile();
	assert_non_null(*to);
	*saved = dup(STDOUT_FILENO);
	dup2(fileno(*to), STDOUT_FILENO);
}

static inline void release(int saved, FILE *from)
{
	size_t n;

	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(from);
	n = fread(printed, 1, sizeof(printed) - 1, from);
	printed[n] = '\0';
	fclose(from);
}

/* Run a command with these words. TMP/ is the directory of the test, A: the server. */
static inline int run(const struct server_run *r, const struct command *cmd, const char *line)
{
	char *argv[WORDS_MAX] = { (char *)cmd->name, "--timeout", FAKE_PATIENCE_S };
	char *words = strdup(line), *word, *tmp, *save = NULL;
	int argc = 3, saved, status, i;
	FILE *to;

	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		assert_true(argc < WORDS_MAX - 1);
		tmp = strstr(word, "TMP/");
		if (tmp)
			assert_true(asprintf(&argv[argc], "%.*s%s%s", (int)(tmp - word), word,
					     r->tmp->path, tmp + 3) > 0);
		else if (!strncmp(word, "A:", 2))
			assert_true(asprintf(&argv[argc], HERE_ADDR ":%s", word + 2) > 0);
		else
			argv[argc] = strdup(word);
		argc++;
	}
	err_command(cmd->name);
	capture(&saved, &to);
	status = cmd->run(argc, argv);
	release(saved, to);
	for (i = 3; i < argc; i++)
		free(argv[i]);
	free(words);
	return status;
}

static inline int cp(const struct server_run *r, const char *line)
{
	return run(r, &cmd_cp, line);
}

static inline bool has(const char *text)
{
	bool found = strstr(printed, text);

	if (!found)
		fprintf(stderr, "# '%s' is not in:\n%s\n", text, printed);
	return found;
}

/* Lines of --itemize-changes: all but the sum at the end */
static inline int changes(void)
{
	const char *p = printed;
	int n = 0;

	for (; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		n += !!strchr("<>ch.*", *p);
	return n;
}

/* A number of --stats */
static inline uint64_t stat_of(const char *name)
{
	const char *p = strstr(printed, name);

	assert_non_null(p);
	return strtoull(p + strlen(name), NULL, 10);
}

static inline int is_same_tree(const struct server_run *r, const char *a, const char *b)
{
	char cmd[512];

	if (system("command -v rsync >/dev/null"))
		skip();
	snprintf(cmd, sizeof(cmd),
		 "o=$(rsync -aHAX --checksum --delete -n -i %s/ %s/); echo \"$o\" >&2\n"
		 "test -z \"$o\"", a, b);
	return !shell(r, cmd);
}

/* Whether these are all names in a directory, sorted and separated by blanks */
static inline bool lists(const struct server_run *r, const char *dir, const char *want)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd), "test \"$(cd %s && find . | sort | paste -sd ' ')\" = '%s'", dir,
		 want);
	return !shell(r, cmd);
}

#endif /* COMMAND_RUN_H */
