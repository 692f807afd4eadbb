from tests.wrong_rewrites.table import table

if __name__ == "__main__":
    print(table())
